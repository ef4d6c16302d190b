'use client'
import { type UseQueryResult, useMutation } from '@tanstack/react-query'
import { Copy, Download, type LucideIcon, Printer, Share2 } from 'lucide-react'
import dynamic from 'next/dynamic'
import { type ReactNode, useState } from 'react'
import { StaleNotice } from '#components/list/stale-notice.tsx'
import { Button } from '#components/ui/button.tsx'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { PageActions } from '#components/ui/page-actions.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { toast } from '#components/ui/toast.tsx'
import { useCopy } from '#components/ui/use-copy.ts'
import { useShownError } from '#components/ui/use-shown-error.ts'
import { isTransient } from '#lib/browser/api/failures.ts'
import type { Report, ReportFormat, ReportTable } from '#lib/protocol/reports.ts'
import type { Share } from '#lib/protocol/shares.ts'
import { benchmarkJobMutations } from './job/queries.ts'
import { sharedAt } from './share/queries.ts'

interface ReportActionsProps {
  /** `comparison`: used in file names and messages. */
  name: string
  /** Kind of a share link and, for a job, its ID. */
  shared: Pick<Share, 'kind'> & { job?: string }
  url: (format: ReportFormat, table?: ReportTable) => string
  tables?: readonly ReportTable[] | undefined
  isLoaded: boolean
}

export const ReportActions = ({ name, shared, url, tables = [], isLoaded }: ReportActionsProps) => {
  const { copy } = useCopy(`the ${name}`)
  const [isSharing, setIsSharing] = useState(false)
  const { mutateAsync: read, isPending } = useMutation(benchmarkJobMutations.readReport())
  // Fetched before saving, so that an error can be shown.
  const save = (from: string, file: string) =>
    read(from)
      .then(async (report) => (await import('#lib/browser/lists/export.ts')).saveFile(report, file))
      .catch(toast.failed(`Couldn't save ${file}`))
  const csvs = tables.map((table) => [csvNames[table], `${name}-${table}.csv`, url('csv', table)] as const)
  const csv = ['CSV', `${name}.csv`, url('csv')] as const
  const files = [
    ...(csvs.length > 0 ? csvs : [csv]),
    ['JSON', `${name}.json`, url('json')] as const,
    ['HTML', `${name}.html`, url('html')] as const,
  ]
  const loading = isLoaded ? null : `The ${name} is still loading`
  const copyMarkdown = () =>
    read(url('md'))
      .then(async (markdown) => copy(`${await markdown.text()}\n<${location.href}>\n`))
      .catch(toast.failed(`Couldn't copy the ${name}`))
  return (
    <PageActions className="contents">
      <DropdownMenu
        label={`Export the ${name}`}
        trigger={
          <Button size="sm" icon={Download} busy={isPending}>
            Export
          </Button>
        }
        items={[
          ...files.map(([label, file, from]) => ({ label, icon: Download, onSelect: () => void save(from, file) })),
          'separator',
          { label: 'Copy as Markdown', icon: Copy, disabledReason: loading, onSelect: () => void copyMarkdown() },
          { label: 'Print', icon: Printer, disabledReason: loading, onSelect: () => window.print() },
        ]}
      />
      <Button size="sm" icon={Share2} needs="/api/shares" disabledReason={loading} onClick={() => setIsSharing(true)}>
        Share
      </Button>
      {isSharing && (
        <ShareDialog
          name={name}
          shared={sharedAt(shared.kind, url('json'), shared.job)}
          onClose={() => setIsSharing(false)}
        />
      )}
    </PageActions>
  )
}

const ShareDialog = dynamic(async () => (await import('./share/share-dialog.tsx')).ShareDialog)

type Tables = Partial<Pick<Report, Exclude<ReportTable, 'group_pairs'>>>

export const tablesOf = (report: Tables | undefined): ReportTable[] =>
  (Object.keys(csvNames) as ReportTable[]).filter(
    (table) =>
      table === 'agents' ||
      (table === 'exclusions'
        ? report?.exclusions != null
        : (report?.[table === 'group_pairs' ? 'groups' : table] ?? []).length > 0),
  )

const csvNames: Record<ReportTable, string> = {
  agents: 'Agents CSV',
  pairs: 'Pairs CSV',
  failure_groups: 'Failures CSV',
  groups: 'Groups CSV',
  group_pairs: 'Pairs by group CSV',
  excluded_scenarios: 'Scenarios without a score CSV',
  exclusions: 'Exclusions CSV',
  labels: 'Labels CSV',
}

export const ReportNotes = ({ notes }: { notes: readonly string[] }) => (
  <section aria-label="Notes">
    <ul className="max-w-prose list-disc space-y-0.5 pl-4 text-sm text-muted">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  </section>
)

interface ReportPageProps<Data> {
  title: string
  name: string
  icon: LucideIcon
  problems: readonly { field: string; message: string }[]
  restart: ReactNode
  instead: ReactNode
  query: UseQueryResult<Data>
  shared: ReportActionsProps['shared']
  url: ReportActionsProps['url']
  tables?: readonly ReportTable[]
  loading: string
  failed: { title: string; action: ReactNode }
  children: (report: Data) => ReactNode
}

export const ReportPage = <Data,>(props: ReportPageProps<Data>) => {
  const { title, name, icon, problems, restart, instead, query, shared, url, tables, loading, failed, children } = props
  const error = useShownError(query)
  const isInvalid = problems.length > 0
  const { data } = query
  return (
    <>
      <PageHeader
        title={title}
        actions={
          !isInvalid &&
          !instead && (
            <ReportActions name={name} shared={shared} url={url} tables={tables} isLoaded={data !== undefined} />
          )
        }
      />
      {isInvalid ? (
        <EmptyState icon={icon} title="Invalid address" action={restart}>
          {problems.map(({ field, message }) => `${field} ${message}`).join('; ')}
        </EmptyState>
      ) : instead ? (
        instead
      ) : data !== undefined ? (
        <div className={query.isPlaceholderData ? 'space-y-6 opacity-60' : 'space-y-6'}>
          <StaleNotice query={query} />
          {children(data)}
        </div>
      ) : error ? (
        <ErrorState {...failed} error={error} recovers={isTransient(error)} query={query} />
      ) : (
        <SkeletonRows columns={6} label={loading} />
      )}
    </>
  )
}
