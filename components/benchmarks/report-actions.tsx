'use client'
import { useMutation } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { Button } from '#components/ui/button.tsx'
import { toast } from '#components/ui/toast.tsx'
import { useCopy } from '#components/ui/use-copy.ts'
import type { Report, ReportFormat, ReportTable } from '#lib/protocol/reports.ts'
import { benchmarkJobMutations } from './job/queries.ts'

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
  const { mutateAsync: read, isPending, variables } = useMutation(benchmarkJobMutations.readReport())
  // Read whole before it is saved: of a link that fails the browser alone would tell, and not why.
  const save = (from: string, file: string) =>
    read(from)
      .then(async (report) => (await import('#lib/browser/lists/export.ts')).saveFile(report, file))
      .catch(toast.failed(`${file} was not saved`))
  const csvs = tables.map((table) => [csvNames[table], `${what}-${table}.csv`, address('csv', table)] as const)
  const csv = ['CSV', `${what}.csv`, address('csv')] as const
  const files = [...(csvs.length > 0 ? csvs : [csv]), ['JSON', `${what}.json`, address('json')] as const]
  return (
    <>
      {files.map(([name, file, from]) => (
        <Button
          key={file}
          size="sm"
          variant="ghost"
          icon={Download}
          busy={isPending && variables === from}
          onClick={() => void save(from, file)}
        >
          {name}
        </Button>
      ))}
      <Button
        size="sm"
        busy={isPending && variables === address('md')}
        disabledReason={isThere ? null : `The ${what} is not there yet`}
        onClick={() =>
          void read(address('md'))
            // With the way back to its page, for whoever reads it in a chat.
            .then(async (markdown) => copy(`${await markdown.text()}\n<${location.href}>\n`))
            .catch(toast.failed(`The ${what} was not copied`))
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
