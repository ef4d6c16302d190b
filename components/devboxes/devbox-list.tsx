'use client'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Box, Plus, SearchX } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { EvictionBadge } from '#components/evictions/eviction-badge.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { type Column, DataTable } from '#components/ui/data-table.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState, problemOf } from '#components/ui/error-state.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/console/format.ts'
import { paths } from '#lib/console/paths.ts'
import { devboxQueries } from '#lib/console/queries/devboxes.ts'
import { evictionQueries } from '#lib/console/queries/evictions.ts'
import type { Devbox, DevboxListQuery } from '#lib/contract/devboxes.ts'
import type { Eviction } from '#lib/contract/evictions.ts'
import { CreateDevboxDialog } from './create-devbox-dialog.tsx'
import { conditionText, DevboxFilters, withCondition } from './devbox-filters.tsx'
import { DevboxRowActions } from './devbox-row-actions.tsx'
import { DevboxStatusBadge } from './devbox-status.tsx'
import { Lifetime } from './lifetime.tsx'
import { useDevboxMoves } from './use-devbox-moves.tsx'
import { useSteadyRows } from './use-steady-rows.ts'

export const DevboxList = ({ query, serviceUrl }: { query: DevboxListQuery; serviceUrl: string }) => {
  const [isCreating, setIsCreating] = useState(false)
  const create = (
    <Button variant="primary" icon={Plus} onClick={() => setIsCreating(true)}>
      Create devbox
    </Button>
  )
  return (
    <>
      <PageHeader title="Devboxes" actions={create} />
      <DevboxFilters query={query} />
      <Rows query={query} create={create} serviceUrl={serviceUrl} />
      <CreateDevboxDialog open={isCreating} onOpenChange={setIsCreating} />
    </>
  )
}

interface RowsProps {
  query: DevboxListQuery
  create: ReactNode
  serviceUrl: string
}

const Rows = ({ query, create, serviceUrl }: RowsProps) => {
  const list = useInfiniteQuery(devboxQueries.list(query))
  const { data: evictions } = useQuery({
    ...evictionQueries.feed(),
    select: ({ pending }) => new Map(pending.map((eviction) => [eviction.devbox_id, eviction])),
  })
  const moves = useDevboxMoves()
  const fresh = useMemo(() => list.data?.pages.flatMap(({ devboxes }) => devboxes) ?? [], [list.data])
  const { rows, waiting, release, pointer } = useSteadyRows(JSON.stringify(query), fresh, ({ id }: Devbox) => id)
  const columns = useMemo(() => columnsFor(query, evictions), [query, evictions])

  if (list.isPending) return <SkeletonRows columns={6} label="Loading devboxes" />
  if (!list.data)
    return (
      <ErrorState
        title="Devboxes could not be loaded"
        error={list.error}
        onRetry={() => void list.refetch()}
        retrying={list.isFetching}
      />
    )
  if (rows.length === 0)
    return isFiltered(query) ? <NoMatch query={query} /> : <None create={create} serviceUrl={serviceUrl} />
  const total = list.data.pages.at(-1)?.total_count
  return (
    <>
      {list.isRefetchError && <StaleNotice error={list.error} sinceMs={list.dataUpdatedAt} />}
      <div className="mb-1 flex min-h-7 items-center gap-3 text-sm text-muted">
        <p role="status" className="tabular">
          Showing {formatCount(rows.length)}
          {total == null ? '' : ` of ${formatCount(Math.max(total, rows.length))}`}
        </p>
        {waiting > 0 && (
          <Button size="sm" variant="ghost" onClick={release}>
            Show {waiting} new
          </Button>
        )}
      </div>
      <div {...pointer}>
        <DataTable
          caption="Devboxes"
          columns={columns}
          rows={rows}
          rowKey={({ id }) => id}
          rowHref={({ id }) => paths.devbox(id)}
          rowActions={(devbox) => <DevboxRowActions devbox={devbox} moves={moves} />}
          busy={list.isPlaceholderData}
        />
      </div>
      {list.hasNextPage && (
        <div className="flex justify-center py-4">
          <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Load more
          </Button>
        </div>
      )}
      {moves.dialogs}
    </>
  )
}

const columnsFor = (query: DevboxListQuery, evictions: ReadonlyMap<string, Eviction>): Column<Devbox>[] => [
  {
    id: 'name',
    header: 'Name',
    priority: 1,
    cell: ({ name }) =>
      name ? <VisibleText truncate>{name}</VisibleText> : <span className="text-muted">Unnamed</span>,
  },
  {
    id: 'status',
    header: 'Status',
    priority: 2,
    width: '16.5rem',
    cell: ({ id, status }) => {
      const eviction = evictions.get(id)
      return (
        <span className="flex items-center gap-1.5">
          <DevboxStatusBadge status={status} />
          {eviction && <EvictionBadge eviction={eviction} />}
        </span>
      )
    },
  },
  { id: 'id', header: 'Id', priority: 3, width: '11.5rem', cell: ({ id }) => <CopyableId value={id} /> },
  {
    id: 'metadata',
    header: 'Metadata',
    priority: 3,
    cell: ({ metadata }) => (
      <MetadataChips
        metadata={metadata}
        max={2}
        hrefFor={(key, value) =>
          paths.devboxes({
            ...query,
            starting_after: undefined,
            metadata: withCondition(query.metadata ?? [], { key, op: 'eq', value }),
          })
        }
      />
    ),
  },
  {
    id: 'created',
    header: 'Created',
    priority: 3,
    align: 'right',
    width: '8rem',
    cell: ({ create_time_ms }) => <RelativeTime ms={create_time_ms} />,
  },
  {
    id: 'lifetime',
    header: 'Lifetime',
    priority: 3,
    align: 'right',
    width: '8rem',
    cell: (devbox) => <Lifetime devbox={devbox} />,
  },
]

const isFiltered = ({ status, name, search, metadata, starting_after }: DevboxListQuery) =>
  Boolean(status || name || search || metadata?.length || starting_after)

const NoMatch = ({ query }: { query: DevboxListQuery }) => {
  const filters = [
    query.status && `status ${query.status}`,
    query.search && `“${query.search}”`,
    query.name && `name ${query.name}`,
    ...(query.metadata ?? []).map(conditionText),
  ].filter(Boolean)
  return (
    <EmptyState
      icon={SearchX}
      title="No devbox matches"
      action={<ButtonLink href={paths.devboxes()}>Clear filters</ButtonLink>}
    >
      {filters.length > 0 ? (
        <VisibleText max={300}>{filters.join(' · ')}</VisibleText>
      ) : (
        'There are no devboxes after this one.'
      )}
    </EmptyState>
  )
}

const None = ({ create, serviceUrl }: { create: ReactNode; serviceUrl: string }) => (
  <EmptyState
    icon={Box}
    title="No devboxes yet"
    action={create}
    command={`curl ${serviceUrl}/v1/devboxes \\
  -H "Authorization: Bearer $DEVDECK_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"name": "my-first-devbox"}'`}
  >
    A devbox is an isolated machine with a disk and a shell, for an agent or for you. It runs commands and terminals,
    can be suspended and resumed, and ends by itself when its keep-alive time is over.
  </EmptyState>
)

const StaleNotice = ({ error, sinceMs }: { error: unknown; sinceMs: number }) => (
  <Banner tone="attention" role="status" className="mb-2 rounded-md" title="This list is old">
    It was read <RelativeTime ms={sinceMs} /> and could not be read since: {problemOf(error).message}
  </Banner>
)
