'use client'
import { useQuery } from '@tanstack/react-query'
import { Box, FlaskConical, Plus, SlidersHorizontal } from 'lucide-react'
import { useMemo, useState } from 'react'
import { type AlertFeed, pendingEvictions } from '#components/alerts/alert-feed.ts'
import { EvictionBadge } from '#components/alerts/devbox-eviction.tsx'
import { alertQueries } from '#components/alerts/queries.ts'
import { FilterBar } from '#components/filters/filter-bar.tsx'
import { chosenColumns } from '#components/list/chosen-columns.tsx'
import type { Column } from '#components/list/column.ts'
import { idColumn, metadataColumn, nameColumn, timeColumn } from '#components/list/columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { ListMenus } from '#components/list/list-menus.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import { type DrawnColumns, useColumns } from '#components/list/use-columns.ts'
import { useListPage } from '#components/list/use-list-page.ts'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
import { Popover } from '#components/ui/popover.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { devboxColumns } from '#lib/browser/address/columns/devbox-columns.ts'
import { DevboxListView, devboxListPath, devboxQueryOf } from '#lib/browser/address/devbox-list-view.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { curlPost } from '#lib/browser/api/code-samples.ts'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { devboxesShownBy, devboxFilterNames } from '#lib/browser/lists/devbox-rows.ts'
import { devboxMatches } from '#lib/browser/lists/row-filters.ts'
import type { Shown } from '#lib/browser/queries/list/pages.ts'
import { type Devbox, type DevboxList as Devboxes, hasEnded, isOfTrial } from '#lib/contract/devboxes.ts'
import type { Alert } from '#lib/protocol/alerts.ts'
import { DevboxRowActions } from './devbox-row-actions.tsx'
import { Lifetime, StatusSince } from './lifetime.tsx'
import { devboxQueries } from './queries.ts'
import { DevboxStatusBadge } from './status.tsx'
import { TimeLeftText, timeLeftOf } from './time-left.tsx'
import { useDevboxActions } from './use-devbox-actions.tsx'

const CreateDevboxDialog = loadOnUse(async () => (await import('./create/create-devbox-dialog.tsx')).CreateDevboxDialog)

const DevboxFilters = loadOnUse(async () => (await import('./devbox-filters.tsx')).DevboxFilters)

const DevboxSelection = loadOnUse(async () => (await import('./devbox-selection.tsx')).DevboxSelection)

const sourceFilters = {
  none: 'made from nothing',
  snapshot: 'made from a snapshot',
  blueprint: 'made from a blueprint',
} as const

const source = {
  noun: 'devbox',
  nouns: 'devboxes',
  schema: DevboxListView,
  path: devboxListPath,
  filters: {
    search: 'id or name contains …',
    status: (statuses: string) => `status is ${statuses.replaceAll(',', ' or ')}`,
    name: 'name contains …',
    trials: (trials: string) => (trials === 'only' ? 'made by a benchmark trial' : null),
    source: (from: string) => sourceFilters[from as keyof typeof sourceFilters],
    size: 'size is …',
    older_than: 'older than …',
    younger_than: 'younger than …',
  },
  pages: (view: DevboxListView) => devboxQueries.list(devboxQueryOf(view)),
  refresh: (view: DevboxListView, shown: () => Shown<Devbox>) => devboxQueries.refresh(devboxQueryOf(view), shown),
  rowsOf: ({ devboxes }: Devboxes) => devboxes,
  matches: (view: DevboxListView) => devboxMatches(devboxQueryOf(view)),
  arrange: {
    by: devboxFilterNames,
    rows: (devboxes: readonly Devbox[], view: DevboxListView) => devboxes.filter(devboxesShownBy(view, Date.now())),
  },
} as const

interface DevboxListProps {
  serviceUrl: string
  drawnColumns: DrawnColumns
}

export const DevboxList = ({ serviceUrl, drawnColumns }: DevboxListProps) => {
  const page = useListPage(source)
  const { view, narrow, rows, loaded, selectedRows, onNearEnd } = page
  const [isCreating, setIsCreating] = useState(false)
  const { data: evictions } = useQuery({ ...alertQueries.feed(), select: byDevbox })
  const actions = useDevboxActions()
  const columns = useColumns(devboxColumns, page, drawnColumns)
  const shownColumns = useMemo(
    () => chosenColumns(columns.choices, devboxColumns, columnsFor(view, evictions)),
    [columns.choices, view, evictions],
  )
  const fields = async () => (await import('./export/devbox-fields.ts')).devboxFields(evictions)
  const trials = useTrials(page)
  const isOnlyTrials = rows.length === 0 && !page.isSearching && trials.isHidden && (trials.count ?? 0) > 0
  const create = (
    <Button variant="primary" icon={Plus} onClick={() => setIsCreating(true)}>
      Create devbox
    </Button>
  )
  return (
    <>
      <ListPage
        title="Devboxes"
        page={
          isOnlyTrials
            ? // Other filters are not why the list is empty.
              { ...page, filters: [], newestHref: undefined }
            : { ...page, isSearching: page.isSearching || (rows.length === 0 && trials.isPending) }
        }
        actions={create}
        filterBar={
          <FilterBar page={page} search="Search id or name" metadata={{ keys: devboxQueries.metadataKeys() }}>
            <Popover
              trigger={<Button icon={SlidersHorizontal}>Filters</Button>}
              label="Filter devboxes"
              align="start"
              className="w-80"
            >
              <DevboxFilters view={view} narrow={narrow} />
            </Popover>
          </FilterBar>
        }
        columns={6}
        tools={
          <>
            <Trials view={view} {...trials} />
            <ListMenus
              source={source}
              page={page}
              columns={columns}
              metadataKeys={devboxQueries.metadataKeys()}
              fields={fields}
              serviceUrl={serviceUrl}
            />
          </>
        }
        none={
          isOnlyTrials ? (
            <EmptyState
              icon={FlaskConical}
              title={
                page.list.hasNextPage
                  ? `Only trial devboxes among the newest ${formatCount(loaded.length)}`
                  : 'Only trial devboxes'
              }
              action={
                <>
                  {page.list.hasNextPage && (
                    <Button busy={onNearEnd === undefined} onClick={onNearEnd}>
                      Load more devboxes
                    </Button>
                  )}
                  <ButtonLink href={devboxListPath({ ...view, trials: 'shown' })}>Show trial devboxes</ButtonLink>
                </>
              }
            >
              Benchmarks create a devbox for each trial. This list hides them.
            </EmptyState>
          ) : (
            <EmptyState
              icon={Box}
              title="No devboxes yet"
              action={create}
              command={curlPost(serviceUrl, '/v1/devboxes', '{"name": "my-first-devbox"}')}
            >
              {
                'A devbox is an isolated machine with a disk and a shell, for an agent or for you. It runs commands and terminals, can be suspended and resumed, and ends by itself when its keep-alive time is over.'
              }
            </EmptyState>
          )
        }
      >
        <DataTable
          {...page.table}
          caption="Devboxes, newest first"
          columns={shownColumns}
          onResize={columns.onResize}
          rowHref={({ id }) => paths.devbox(id)}
          selection={{ ...page.selection, labelOf }}
          onNearEnd={onNearEnd}
          rowActions={(devbox) => <DevboxRowActions devbox={devbox} actions={actions} />}
          rowClassName={({ status }) => (hasEnded(status) ? 'text-muted' : undefined)}
        />
      </ListPage>
      {selectedRows.length > 0 && <DevboxSelection devboxes={selectedRows} onClear={() => page.setSelected([])} />}
      {actions.dialogs}
      <CreateDevboxDialog open={isCreating} onOpenChange={setIsCreating} />
    </>
  )
}

const labelOf = ({ id, name }: Devbox) => `Select ${name || id}`

/** How many trial devboxes the list hides or shows; null where that is not known. */
const useTrials = (page: {
  view: DevboxListView
  list: { data: unknown; isPlaceholderData: boolean; hasNextPage: boolean }
  loaded: readonly Devbox[]
}) => {
  const { view, list, loaded } = page
  const isHidden = view.trials === undefined
  const query = devboxQueryOf(view)
  const counted = useQuery({ ...devboxQueries.trialCount(query), enabled: isHidden && list.data !== undefined })
  const matches = devboxMatches({ ...query, origin: 'trial' })
  const shownBy = devboxesShownBy({ ...view, trials: 'only' }, Date.now())
  const among = loaded.filter((devbox) => matches(devbox) && shownBy(devbox)).length
  // A service that returns trial devboxes in a list of own ones counts both together.
  const isIgnored = isHidden && loaded.some(isOfTrial)
  const isPending = isHidden && !isIgnored && counted.isPending
  if (!isHidden || isIgnored || counted.data == null)
    return { isHidden, isPending, count: among, isAtLeast: list.hasNextPage }
  // The service doesn't count by filters that only the page has.
  const isNarrowed = devboxFilterNames.some((name) => name !== 'trials' && view[name] !== query[name as 'status'])
  return { isHidden, isPending, count: isNarrowed && counted.data > 0 ? null : counted.data, isAtLeast: false }
}

interface TrialsProps extends Omit<ReturnType<typeof useTrials>, 'isPending'> {
  view: DevboxListView
}

const Trials = ({ view, isHidden, count, isAtLeast }: TrialsProps) => {
  if (count === 0 || view.trials === 'only') return null
  const what = count === null ? 'Trial devboxes' : formatCountOf(count, 'trial devbox', 'trial devboxes')
  return (
    <p className="flex flex-wrap items-center gap-x-2">
      <span className="tabular">
        {isAtLeast && 'At least '}
        {what} {isHidden ? 'hidden' : 'included'}
      </span>
      <TextLink
        href={devboxListPath({ ...view, trials: isHidden ? 'shown' : undefined })}
        aria-label={`${isHidden ? 'Show' : 'Hide'} trial devboxes`}
        className="inline-flex min-h-6 min-w-6 items-center justify-center"
      >
        {isHidden ? 'Show' : 'Hide'}
      </TextLink>
    </p>
  )
}

const byDevbox = (feed: AlertFeed): ReadonlyMap<string, Alert> =>
  new Map(pendingEvictions(feed).map((eviction) => [eviction.devbox_id, eviction]))

const columnsFor = (query: DevboxListView, evictions: ReadonlyMap<string, Alert>): Column<Devbox>[] => [
  nameColumn(),
  {
    id: 'status',
    header: 'Status',
    cell: ({ row: { original: devbox } }) => {
      const eviction = evictions.get(devbox.id)
      return (
        <span className="flex items-center gap-1.5">
          <DevboxStatusBadge status={devbox.status} />
          {eviction ? <EvictionBadge eviction={eviction} brief /> : <StatusSince devbox={devbox} />}
        </span>
      )
    },
    meta: { priority: 2, width: '14rem' },
  },
  idColumn(),
  metadataColumn(query, devboxListPath),
  timeColumn('Created', ({ create_time_ms }) => create_time_ms),
  {
    id: 'lifetime',
    header: 'Lifetime',
    cell: ({ row: { original: devbox } }) => <Lifetime devbox={devbox} />,
    meta: { priority: 5, align: 'right', width: '7rem' },
  },
  {
    id: 'time-left',
    header: 'Time left',
    cell: ({ row: { original: devbox } }) => {
      const left = timeLeftOf(devbox, evictions.get(devbox.id))
      return left && <TimeLeftText left={left} brief />
    },
    meta: { priority: 3, align: 'right', width: '7rem' },
  },
  timeColumn('Ended', ({ end_time_ms }) => end_time_ms),
]
