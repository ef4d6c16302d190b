'use client'
import { useQuery } from '@tanstack/react-query'
import { Box, FlaskConical, Plus, SlidersHorizontal } from 'lucide-react'
import { useMemo, useState } from 'react'
import { EvictionBadge } from '#components/evictions/eviction-badge.tsx'
import { FilterBar } from '#components/filters/filter-bar.tsx'
import { chosenColumns } from '#components/list/chosen-columns.tsx'
import { idColumn, type ListColumn, metadataColumn, nameColumn, timeColumn } from '#components/list/columns.tsx'
import { ListMenus } from '#components/list/list-menus.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import { type DrawnColumns, useColumns } from '#components/list/use-columns.ts'
import { useEnoughRows } from '#components/list/use-enough-rows.ts'
import { useListPage } from '#components/list/use-list-page.ts'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { DataTable } from '#components/ui/data-table.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
import { Popover } from '#components/ui/popover.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { devboxColumns } from '#lib/console/address/columns/devbox-columns.ts'
import { DevboxListView, devboxListPath, devboxQueryOf } from '#lib/console/address/devbox-list-view.ts'
import { paths } from '#lib/console/address/paths.ts'
import { curlPost } from '#lib/console/api/curl-post.ts'
import { devboxesShownBy, devboxFilterNames } from '#lib/console/lists/devbox-rows.ts'
import type { EvictionFeed } from '#lib/console/live/eviction-feed.ts'
import { devboxQueries } from '#lib/console/queries/devboxes.ts'
import { evictionQueries } from '#lib/console/queries/evictions.ts'
import type { Shown } from '#lib/console/queries/list/pages.ts'
import { type Devbox, type DevboxList as Devboxes, hasEnded, isOfTrial } from '#lib/contract/devboxes.ts'
import type { Eviction } from '#lib/contract/evictions.ts'
import { formatCount, t } from '#lib/language/translate.ts'
import { DevboxRowActions } from './devbox-row-actions.tsx'
import { DevboxStatusBadge } from './devbox-status.tsx'
import { Lifetime, StatusSince } from './lifetime.tsx'
import { timeLeftOf } from './time-left.ts'
import { TimeLeftText } from './time-left-text.tsx'
import { useDevboxMoves } from './use-devbox-moves.tsx'

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
    status: (statuses: string) => t('status is {values}', { values: statuses.replaceAll(',', ` ${t('or')} `) }),
    name: 'name contains …',
    trials: (trials: string) => (trials === 'only' ? t('made by a benchmark trial') : null),
    source: (from: string) => t(sourceFilters[from as keyof typeof sourceFilters]),
    size: 'size is …',
    older_than: 'older than …',
    younger_than: 'younger than …',
  },
  pages: (view: DevboxListView) => devboxQueries.list(devboxQueryOf(view)),
  refresh: (view: DevboxListView, shown: () => Shown<Devbox>) => devboxQueries.refresh(devboxQueryOf(view), shown),
  rowsOf: ({ devboxes }: Devboxes) => devboxes,
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
  useEnoughRows(page, enoughLoaded)
  const [isCreating, setIsCreating] = useState(false)
  const { data: evictions } = useQuery({ ...evictionQueries.feed(), select: byDevbox })
  const moves = useDevboxMoves()
  const columns = useColumns(devboxColumns, page, drawnColumns)
  const shownColumns = useMemo(
    () => chosenColumns(columns.choices, devboxColumns, columnsFor(view, evictions)),
    [columns.choices, view, evictions],
  )
  const fields = async () => (await import('./export/devbox-fields.ts')).devboxFields(evictions)
  const matches = devboxesShownBy({ ...view, trials: 'shown' }, Date.now())
  const ofTrials = view.trials === 'only' ? 0 : loaded.filter((devbox) => isOfTrial(devbox) && matches(devbox)).length
  const isOnlyTrials = rows.length === 0 && ofTrials > 0
  const create = (
    <Button variant="primary" icon={Plus} onClick={() => setIsCreating(true)}>
      {t('Create devbox')}
    </Button>
  )
  return (
    <>
      <ListPage
        title="Devboxes"
        // That they are of trials is why none is shown, whatever else is asked for.
        page={isOnlyTrials ? { ...page, filters: [], newestHref: undefined } : page}
        actions={create}
        filterBar={
          <FilterBar page={page} search={t('Search id or name')} metadata={{ keys: devboxQueries.metadataKeys() }}>
            <Popover
              trigger={<Button icon={SlidersHorizontal}>{t('Filters')}</Button>}
              label={t('Filter devboxes')}
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
            {ofTrials > 0 && <Trials view={view} count={ofTrials} />}
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
            <OnlyTrials
              view={view}
              count={ofTrials}
              looked={loaded.length}
              total={page.list.data?.pages[0]?.total_count}
              hasMore={page.list.hasNextPage}
              onMore={onNearEnd}
            />
          ) : (
            <EmptyState
              icon={Box}
              title={t('No devboxes yet')}
              action={create}
              command={curlPost(serviceUrl, '/v1/devboxes', '{"name": "my-first-devbox"}')}
            >
              {t(
                'A devbox is an isolated machine with a disk and a shell, for an agent or for you. It runs commands and terminals, can be suspended and resumed, and ends by itself when its keep-alive time is over.',
              )}
            </EmptyState>
          )
        }
      >
        <DataTable
          {...page.table}
          caption={t('Devboxes, newest first')}
          columns={shownColumns}
          onResize={columns.onResize}
          rowHref={({ id }) => paths.devbox(id)}
          selection={{ ...page.selection, labelOf }}
          onNearEnd={onNearEnd}
          rowActions={(devbox) => <DevboxRowActions devbox={devbox} moves={moves} />}
          rowClassName={({ status }) => (hasEnded(status) ? 'text-muted' : undefined)}
        />
      </ListPage>
      {selectedRows.length > 0 && <DevboxSelection devboxes={selectedRows} onClear={() => page.setSelected([])} />}
      {moves.dialogs}
      <CreateDevboxDialog open={isCreating} onOpenChange={setIsCreating} />
    </>
  )
}

const labelOf = ({ id, name }: Devbox) => t('Select {name}', { name: name || id })

/** Of devboxes of trials before the first of a person; beyond it one asks for more by hand. */
const enoughLoaded = 2_000

/** How many devboxes of trials the page leaves out, and the way to see them. */
const Trials = ({ view, count }: { view: DevboxListView; count: number }) => {
  const isShown = view.trials === 'shown'
  return (
    <p className="flex flex-wrap items-center gap-x-2">
      <span className="tabular">
        {t(isShown ? '{count} of trials among them' : '{count} of trials not shown', { count: formatCount(count) })}
      </span>
      <TextLink
        href={devboxListPath({ ...view, trials: isShown ? undefined : 'shown' })}
        aria-label={`${t(isShown ? 'Hide them' : 'Show them')}: ${t('devboxes of trials')}`}
      >
        {t(isShown ? 'Hide them' : 'Show them')}
      </TextLink>
    </p>
  )
}

interface OnlyTrialsProps {
  view: DevboxListView
  count: number
  /** How many of `total` were looked through. */
  looked: number
  /** Of all devboxes there are. */
  total: number | null | undefined
  hasMore: boolean
  /** Absent while more are read. */
  onMore: (() => void) | undefined
}

const OnlyTrials = ({ view, count, looked, total, hasMore, onMore }: OnlyTrialsProps) => (
  <EmptyState
    icon={FlaskConical}
    title={
      hasMore
        ? `Only devboxes of trials among the newest ${formatCount(looked)}${total == null ? '' : ` of ${formatCount(total)}`}`
        : t('Only devboxes of trials: {count}', { count: formatCount(count) })
    }
    action={
      <>
        {hasMore && (
          <Button busy={onMore === undefined} onClick={onMore}>
            Look at older ones
          </Button>
        )}
        <ButtonLink href={devboxListPath({ ...view, trials: 'shown' })}>{t('Show them')}</ButtonLink>
      </>
    }
  >
    {t(
      'Benchmarks make a devbox for each trial. They are left out unless you ask for them, so that your own stay in sight.',
    )}
  </EmptyState>
)

const byDevbox = ({ pending }: EvictionFeed): ReadonlyMap<string, Eviction> =>
  new Map(pending.map((eviction) => [eviction.devbox_id, eviction]))

const columnsFor = (query: DevboxListView, evictions: ReadonlyMap<string, Eviction>): ListColumn<Devbox>[] => [
  nameColumn,
  {
    id: 'status',
    header: 'Status',
    priority: 2,
    width: 'clamp(10.75rem, 24vw, 15.5rem)',
    cell: (devbox) => {
      const eviction = evictions.get(devbox.id)
      return (
        <span className="flex items-center gap-1.5">
          <DevboxStatusBadge status={devbox.status} />
          {eviction ? <EvictionBadge eviction={eviction} brief /> : <StatusSince devbox={devbox} />}
        </span>
      )
    },
  },
  idColumn,
  metadataColumn(query, devboxListPath),
  timeColumn('Created', ({ create_time_ms }) => create_time_ms),
  {
    id: 'lifetime',
    header: 'Lifetime',
    priority: 3,
    align: 'right',
    width: '7rem',
    cell: (devbox) => <Lifetime devbox={devbox} />,
  },
  {
    id: 'time-left',
    header: 'Time left',
    priority: 3,
    align: 'right',
    width: '7rem',
    cell: (devbox) => {
      const left = timeLeftOf(devbox, evictions.get(devbox.id))
      return left && <TimeLeftText left={left} brief />
    },
  },
  timeColumn('Ended', ({ end_time_ms }) => end_time_ms),
]
