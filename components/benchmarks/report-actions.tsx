'use client'
import { useMutation } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { toast } from '#components/ui/toast.tsx'
import { useCopy } from '#components/ui/use-copy.ts'
import { benchmarkJobMutations } from '#lib/console/queries/benchmark-jobs.ts'
import type { Report, ReportFormat, ReportTable } from '#lib/wire/reports.ts'

interface ReportActionsProps {
  /** What the numbers are, for file names and messages: `comparison`. */
  what: string
  /** Where the same numbers are, in each format; as CSV each of `tables` is a file. */
  address: (format: ReportFormat, table?: ReportTable) => string
  tables?: readonly ReportTable[]
  /** There is nothing to copy before. */
  isThere: boolean
}

/** The numbers of a page for scripts, papers and chats. */
export const ReportActions = ({ what, address, tables = [], isThere }: ReportActionsProps) => {
  const { result, copy } = useCopy(`the ${what}`)
  const read = useMutation(benchmarkJobMutations.readReport())
  return (
    <>
      {tables.length === 0 && <Export name="CSV" href={address('csv')} file={`${what}.csv`} />}
      {tables.map((table) => (
        <Export key={table} name={csvNames[table]} href={address('csv', table)} file={`${what}-${table}.csv`} />
      ))}
      <Export name="JSON" href={address('json')} file={`${what}.json`} />
      <Button
        size="sm"
        busy={read.isPending}
        disabledReason={isThere ? null : `The ${what} is not there yet`}
        onClick={() =>
          read.mutate(address('md'), {
            // With the way back to its page, for whoever reads it in a chat.
            onSuccess: (markdown) => copy(`${markdown}\n<${location.href}>\n`),
            onError: toast.failed(`The ${what} was not copied`),
          })
        }
      >
        {result === 'copied' ? 'Copied' : 'Copy as Markdown'}
      </Button>
    </>
  )
}

/** The tables of a report that have rows. */
export const tablesOf = (report: Pick<Report, ReportTable> | undefined): ReportTable[] =>
  (Object.keys(csvNames) as ReportTable[]).filter((table) => table === 'agents' || (report?.[table].length ?? 0) > 0)

const csvNames: Record<ReportTable, string> = {
  agents: 'Agents CSV',
  pairs: 'Pairs CSV',
  excluded_scenarios: 'Excluded scenarios CSV',
}

const Export = ({ name, href, file }: { name: string; href: string; file: string }) => (
  <ButtonLink href={href} prefetch={false} download={file} size="sm" variant="ghost" icon={Download}>
    {name}
  </ButtonLink>
)
