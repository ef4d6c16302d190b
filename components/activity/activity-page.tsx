'use client'
import { Download, ScrollText } from 'lucide-react'
import Link from 'next/link'
import * as z from 'zod/mini'
import type { Column } from '#components/list/column.ts'
import { timeColumn } from '#components/list/columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { FilterBar } from '#components/list/filter-bar.tsx'
import { FilterSelect } from '#components/list/filter-fields.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import { useListQuery } from '#components/list/use-list-query.ts'
import { ListTools, ViewMenu } from '#components/list/view-menu.tsx'
import { Badge } from '#components/ui/badge.tsx'
import { ButtonLink } from '#components/ui/button.tsx'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { shortenMiddle } from '#components/ui/text.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { consoleUrl, fetchConsoleJson } from '#lib/browser/api/console-api.ts'
import { formatCount } from '#lib/browser/format.ts'
import { listPages } from '#lib/browser/queries/list/pages.ts'
import { type Activity, type ActivityList, maxStoredActivities } from '#lib/protocol/activity.ts'

const Params = z.object({
  outcome: z.optional(z.enum(['done', 'refused'])),
  search: z.optional(z.string().check(z.maxLength(256))),
  starting_after: z.optional(z.string().check(z.maxLength(256))),
  sort: z.optional(z.string()),
})
type ActivityQuery = Omit<z.output<typeof Params>, 'sort'>

const refreshMs = 15_000

/** Address of the filtered activity, or of its download when `format` is given. */
const activityAddress = (query: ActivityQuery, format?: 'csv' | 'json') =>
  consoleUrl('/api/activity', { ...query, search: query.search || undefined, format })

const activityList = (query: ActivityQuery) =>
  listPages({
    queryKey: ['activity', query],
    query,
    read: (page: ActivityQuery, signal) => fetchConsoleJson<ActivityList>(activityAddress(page), signal),
    rowsOf: ({ activities }) => activities,
    // A refetch loads every page again, so only the first page refreshes by itself.
    refetchInterval: ({ state: { data } }) => data?.pages.length === 1 && refreshMs,
  })

const outcomeWords = { done: 'Done', refused: 'Refused' } as const

/** Pages by id prefix. Other ids are shown as copyable text. */
const pathOf: Record<string, ((id: string) => string) | undefined> = {
  dbx: paths.devbox,
  axn: paths.axon,
  bmj: paths.benchmarkJob,
  bmr: paths.benchmarkRun,
  scn: paths.scenario,
  snp: paths.snapshot,
}

/** Pages by resource of the operation, for services whose ids have no prefix. */
const pathOfResource: Record<string, ((id: string) => string) | undefined> = {
  devboxes: paths.devbox,
  files: paths.devbox,
  tunnels: paths.devbox,
  axons: paths.axon,
  blueprints: paths.blueprint,
  benchmarkRuns: paths.benchmarkRun,
  scenarios: paths.scenario,
}

const Subject = ({ operation, subject: id }: { operation: string; subject: string }) => {
  const [record = id] = id.split('/')
  if (operation.startsWith('alerts.') && / alerts$/.test(id)) return id
  const isAlert = operation.startsWith('alerts.') && /[:@]/.test(id)
  const path = isAlert
    ? paths.alert
    : (pathOf[record.slice(0, record.indexOf('_'))] ?? pathOfResource[operation.split('.')[0] ?? ''])
  return path ? (
    <Link href={path(record)} prefetch={false} title={id} className="font-mono text-sm hover:underline">
      {shortenMiddle(id, 18)}
    </Link>
  ) : (
    <CopyableId value={id} />
  )
}

const columns: Column<Activity>[] = [
  {
    accessorKey: 'operation',
    id: 'operation',
    header: 'Operation',
    cell: ({ row }) => row.original.operation,
    meta: { priority: 1, mono: true },
  },
  {
    accessorKey: 'status',
    id: 'outcome',
    header: 'Outcome',
    cell: ({ row }) =>
      row.original.status < 400 ? (
        <Badge tone="ok">Done</Badge>
      ) : (
        <Badge tone="danger">{`${'Refused'}, ${row.original.status}`}</Badge>
      ),
    meta: { priority: 2, width: '7.5rem' },
  },
  {
    accessorKey: 'subject',
    id: 'subject',
    header: 'Target',
    cell: ({ row }) =>
      row.original.subject === null ? (
        <span className="text-muted">Not reported</span>
      ) : (
        <Subject operation={row.original.operation} subject={row.original.subject} />
      ),
    meta: { priority: 3, width: '13rem' },
  },
  {
    accessorKey: 'person',
    id: 'person',
    header: 'Person',
    cell: ({ row }) =>
      row.original.person === null ? (
        <span className="text-muted">API key</span>
      ) : (
        <VisibleText>{row.original.person}</VisibleText>
      ),
    meta: { priority: 4, width: '10.5rem' },
  },
  {
    accessorKey: 'browser',
    id: 'browser',
    header: 'Browser',
    cell: ({ row }) => row.original.browser,
    meta: { priority: 5, width: '10rem' },
  },
  {
    accessorKey: 'address',
    id: 'address',
    header: 'IP address',
    cell: ({ row }) => row.original.address,
    meta: { priority: 6, mono: true, width: '9rem' },
  },
  timeColumn('at_ms', 'When'),
]

const source = {
  noun: 'activity',
  nouns: 'activities',
  params: Params,
  path: paths.activity,
  columns,
  queryOf: ({ sort: _, ...query }: z.output<typeof Params>): ActivityQuery => query,
  list: activityList,
  filters: { outcome: 'outcome is …', search: 'has “…”' },
}

export const ActivityPage = () => {
  const list = useListQuery(source)
  const { params } = list
  return (
    <ListPage
      title="Activity"
      list={list}
      tools={
        <ListTools>
          <ViewMenu list={list} />
        </ListTools>
      }
      actions={(['csv', 'json'] as const).map((format) => (
        <ButtonLink
          key={format}
          icon={Download}
          href={activityAddress({ ...params, starting_after: undefined }, format)}
          prefetch={false}
          download
        >
          {`Export ${format.toUpperCase()}`}
        </ButtonLink>
      ))}
      filters={
        <FilterBar list={list} search="Search activity">
          <FilterSelect
            label="Outcome"
            any="Any outcome"
            value={params.outcome}
            words={outcomeWords}
            onFilter={(outcome) => list.filter({ outcome }, 'push')}
          />
        </FilterBar>
      }
      empty={
        <EmptyState icon={ScrollText} title="No activity yet">
          Changes made from this console appear here with the person and browser that made them.
        </EmptyState>
      }
    >
      <DataTable {...list.table} caption="Activity" columns={columns} />
      <p className="mt-3 max-w-prose text-sm text-muted">
        {`Excludes requests that scripts send to the service directly, and commands, which are in the devbox logs. This console keeps the latest ${formatCount(maxStoredActivities)} entries per account.`}
      </p>
    </ListPage>
  )
}
