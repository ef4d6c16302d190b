'use client'
import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query'
import { Plus, RotateCw, SearchX, Waypoints } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { type ReactNode, useMemo, useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { type Column, DataTable } from '#components/ui/data-table.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { Select } from '#components/ui/select.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { useShownError } from '#components/ui/use-shown-error.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { isOutage } from '#lib/console/failures.ts'
import { formatCount } from '#lib/console/format.ts'
import { withCondition } from '#lib/console/metadata-condition.ts'
import { paths } from '#lib/console/paths.ts'
import { axonQueries } from '#lib/console/queries/axons.ts'
import type { Axon, AxonListQuery, AxonList as AxonPage } from '#lib/contract/axons.ts'
import { AxonFilters, activeFilters } from './axon-filters.tsx'
import { AxonName } from './axon-name.tsx'
import { AxonState } from './axon-state.tsx'
import { CreateAxonDialog } from './create-axon-dialog.tsx'

export interface AxonListProps {
  query: AxonListQuery
  serviceUrl: string
}

export const AxonList = ({ query, serviceUrl }: AxonListProps) => {
  const [isCreating, setIsCreating] = useState(false)
  const list = useInfiniteQuery(axonQueries.list(query))
  const error = useShownError(list)
  const axons = useMemo(() => list.data?.pages.flatMap((page) => page.axons) ?? [], [list.data])
  const metadataKeys = useMemo(
    () => [...new Set(axons.flatMap(({ metadata }) => Object.keys(metadata)))].sort(),
    [axons],
  )
  const create = (
    <Button variant="primary" icon={Plus} onClick={() => setIsCreating(true)}>
      Create axon
    </Button>
  )
  return (
    <>
      <PageHeader title="Axons" actions={create} />
      <AxonFilters query={query} metadataKeys={metadataKeys} />
      {list.data ? (
        <Answer query={query} list={list} axons={axons} none={<None create={create} serviceUrl={serviceUrl} />} />
      ) : error ? (
        <ErrorState
          title="Axons could not be loaded"
          error={error}
          recovers={isOutage(error)}
          retrying={list.isFetching}
          onRetry={() => void list.refetch()}
        />
      ) : (
        <SkeletonRows columns={5} label="Loading axons" />
      )}
      <CreateAxonDialog open={isCreating} onOpenChange={setIsCreating} />
    </>
  )
}

interface AnswerProps {
  query: AxonListQuery
  list: UseInfiniteQueryResult<InfiniteData<AxonPage>>
  axons: readonly Axon[]
  none: ReactNode
}

const Answer = ({ query, list, axons, none }: AnswerProps) => {
  const columns = useMemo(() => columnsFor(query), [query])
  const isFiltered = activeFilters(query).length > 0
  if (axons.length === 0 && !isFiltered && !query.starting_after) return none
  if (axons.length === 0) return <NoMatch query={query} />
  const total = list.data?.pages.at(-1)?.total_count
  return (
    <>
      {list.isRefetchError && (
        <Banner tone="attention" role="status" title="These rows are old" className="mb-2 rounded-md">
          Read <RelativeTime ms={list.dataUpdatedAt} />; not since:{' '}
          <VisibleText max={300}>{problemOf(list.error).message}</VisibleText>
        </Banner>
      )}
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 text-sm text-muted">
        <p role="status" className="tabular">
          {shownOf(axons.length, list.hasNextPage, query.starting_after ? null : total)}
        </p>
        {query.starting_after && (
          <a href={paths.axons({ ...query, starting_after: undefined })} className="text-accent hover:underline">
            Back to the newest
          </a>
        )}
        <div className="ml-auto flex items-center gap-1">
          <PageSize query={query} />
          <IconButton icon={RotateCw} label="Read again" busy={list.isRefetching} onClick={() => void list.refetch()} />
        </div>
      </div>
      <DataTable
        caption="Axons, newest first"
        columns={columns}
        rows={axons}
        rowKey={({ id }) => id}
        rowHref={({ id }) => paths.axon(id)}
        rowClassName={({ deleted_at_ms }) => (deleted_at_ms == null ? undefined : 'text-muted')}
        busy={list.isPlaceholderData}
      />
      {list.hasNextPage && (
        <div className="flex flex-col items-center gap-2 py-4">
          <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Load more axons
          </Button>
          {list.isFetchNextPageError && (
            <p role="alert" className="text-danger">
              {problemOf(list.error).message}
            </p>
          )}
        </div>
      )}
    </>
  )
}

/** What the list can say about its size. A list that starts at a cursor does not know how much lies before it. */
const shownOf = (shown: number, hasMore: boolean, total: number | null | undefined): string => {
  // Rows made since the total was counted must not make it say "21 of 20".
  if (total != null) return `Showing ${formatCount(shown)} of ${formatCount(Math.max(shown, total))}`
  return hasMore ? `Showing ${formatCount(shown)}, more exist` : `Showing ${formatCount(shown)}`
}

const pageSizes = [20, 50, 100, 500]

const PageSize = ({ query }: { query: AxonListQuery }) => {
  const router = useRouter()
  const sizes = [...new Set([...pageSizes, query.limit])].sort((a, b) => a - b)
  return (
    <Select
      aria-label="Rows at a time"
      value={String(query.limit)}
      onChange={({ target }) => router.push(paths.axons({ ...query, limit: Number(target.value) }), { scroll: false })}
      options={sizes.map((size) => ({ value: String(size), label: `${formatCount(size)} rows` }))}
    />
  )
}

const columnsFor = (query: AxonListQuery): Column<Axon>[] => [
  { id: 'name', header: 'Name', priority: 1, cell: (axon) => <AxonName axon={axon} /> },
  { id: 'id', header: 'Id', priority: 3, width: '11.5rem', cell: ({ id }) => <CopyableId value={id} /> },
  { id: 'state', header: 'State', priority: 2, width: '11rem', cell: (axon) => <AxonState axon={axon} /> },
  {
    id: 'metadata',
    header: 'Metadata',
    priority: 3,
    cell: ({ metadata }) => (
      <MetadataChips
        max={3}
        metadata={metadata}
        hrefFor={(key, value) =>
          paths.axons({
            ...query,
            starting_after: undefined,
            metadata: withCondition(query.metadata, { key, op: 'eq', value }),
          })
        }
      />
    ),
  },
  {
    id: 'created',
    header: 'Created',
    align: 'right',
    priority: 3,
    width: '8rem',
    cell: ({ created_at_ms }) => <RelativeTime ms={created_at_ms} />,
  },
]

const NoMatch = ({ query }: { query: AxonListQuery }) => {
  const filters = activeFilters(query)
  return (
    <EmptyState
      icon={SearchX}
      title={filters.length > 0 ? 'No axon matches' : 'No more axons'}
      action={
        <ButtonLink href={paths.axons({ limit: query.limit })}>
          {filters.length > 0 ? 'Clear filters' : 'Show the newest'}
        </ButtonLink>
      }
    >
      {filters.length > 0 ? (
        <ul>
          {filters.map(({ text }) => (
            <li key={text}>
              <VisibleText max={120}>{text}</VisibleText>
            </li>
          ))}
        </ul>
      ) : (
        'This address starts after the oldest axon.'
      )}
    </EmptyState>
  )
}

const None = ({ create, serviceUrl }: { create: ReactNode; serviceUrl: string }) => (
  <EmptyState
    icon={Waypoints}
    title="No axons yet"
    action={create}
    command={`curl ${serviceUrl}/v1/axons \\
  -H "Authorization: Bearer $DEVDECK_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"name": "first-axon", "metadata": {"env": "dev"}}'`}
  >
    An axon is a named record with metadata of your own. A deleted axon stays in the list with the time of its deletion.
  </EmptyState>
)
