'use client'
import { useMutation } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { Button } from '#components/ui/button.tsx'
import { toast } from '#components/ui/toast.tsx'
import { useCopy } from '#components/ui/use-copy.ts'
import type { Report, ReportFormat, ReportTable } from '#lib/protocol/reports.ts'
import { benchmarkJobMutations } from './job/queries.ts'

interface ReportActionsProps {
  /** `comparison`: used in file names and messages. */
  name: string
  /** URL by format; each of `tables` is a CSV file. */
  url: (format: ReportFormat, table?: ReportTable) => string
  tables?: readonly ReportTable[]
  isLoaded: boolean
}

export const ReportActions = ({ name, url, tables = [], isLoaded }: ReportActionsProps) => {
  const { result, copy } = useCopy(`the ${name}`)
  const { mutateAsync: read, isPending, variables } = useMutation(benchmarkJobMutations.readReport())
  // Fetched before saving, so that an error can be shown.
  const save = (from: string, file: string) =>
    read(from)
      .then(async (report) => (await import('#lib/browser/lists/export.ts')).saveFile(report, file))
      .catch(toast.failed(`Could not save ${file}`))
  const csvs = tables.map((table) => [csvNames[table], `${name}-${table}.csv`, url('csv', table)] as const)
  const csv = ['CSV', `${name}.csv`, url('csv')] as const
  const files = [...(csvs.length > 0 ? csvs : [csv]), ['JSON', `${name}.json`, url('json')] as const]
  return (
    <>
      {files.map(([label, file, from]) => (
        <Button
          key={file}
          size="sm"
          variant="ghost"
          icon={Download}
          busy={isPending && variables === from}
          onClick={() => void save(from, file)}
        >
          {label}
        </Button>
      ))}
      <Button
        size="sm"
        busy={isPending && variables === url('md')}
        disabledReason={isLoaded ? null : `The ${name} is still loading`}
        onClick={() =>
          void read(url('md'))
            // With a link back to the page.
            .then(async (markdown) => copy(`${await markdown.text()}\n<${location.href}>\n`))
            .catch(toast.failed(`Could not copy the ${name}`))
        }
      >
        {result === 'copied' ? 'Copied' : 'Copy as Markdown'}
      </Button>
    </>
  )
}

export const tablesOf = (report: Pick<Report, ReportTable> | undefined): ReportTable[] =>
  (Object.keys(csvNames) as ReportTable[]).filter((table) => table === 'agents' || (report?.[table].length ?? 0) > 0)

const csvNames: Record<ReportTable, string> = {
  agents: 'Agents CSV',
  pairs: 'Pairs CSV',
  excluded_scenarios: 'Excluded scenarios CSV',
}
