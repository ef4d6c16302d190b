'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import {
  Box,
  Camera,
  Clock,
  Ellipsis,
  FlaskConical,
  Pause,
  Play,
  Power,
  SlidersHorizontal,
  SquareTerminal,
} from 'lucide-react'
import dynamic from 'next/dynamic'
import { useRouter } from 'next/navigation'
import { useMemo, useState } from 'react'
import { type AlertFeed, pendingEvictions } from '#components/alerts/alert-feed.ts'
import { EvictionBadge } from '#components/alerts/devbox-eviction.tsx'
import { alertQueries } from '#components/alerts/queries.ts'
import { NodeLink } from '#components/cluster/node-link.tsx'
import { useCluster } from '#components/cluster/queries.ts'
import { CodeSample } from '#components/layout/code-samples.tsx'
import type { Column } from '#components/list/column.ts'
import { idColumn, metadataColumn, nameColumn, optional, timeColumn } from '#components/list/columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { FilterBar } from '#components/list/filter-bar.tsx'
import { ListMenus } from '#components/list/list-menus.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import type { BulkAction } from '#components/list/selection-bar.tsx'
import { useColumns } from '#components/list/use-columns.ts'
import { useListQuery } from '#components/list/use-list-query.ts'
import { snapshotMutations } from '#components/snapshots/queries.ts'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Popover } from '#components/ui/popover.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { devboxMatches } from '#lib/browser/lists/devbox-matches.ts'
import { serviceNow } from '#lib/client/clock.ts'
import {
  type Devbox,
  type DevboxListQuery,
  devboxRefusal,
  hasEnded,
  isOfTrial,
  resumeRefusal,
  shutdownRefusal,
} from '#lib/contract/devboxes.ts'
import type { Alert } from '#lib/protocol/alerts.ts'
import { CreateDevboxButton } from './create/create-devbox-button.tsx'
import { DevboxFilters } from './filters.tsx'
import { Lifetime, StatusSince } from './lifetime.tsx'
import { devboxMutations, devboxQueries } from './queries.ts'
import { DevboxSearchParams, devboxesPath, devboxFilter, devboxQueryOf, pageFilters } from './search-params.ts'
import { DevboxStatusBadge } from './status.tsx'
import { TimeLeftText, timeLeftOf } from './time-left.tsx'
import { type DevboxActions, useDevboxActions } from './use-devbox-actions.tsx'
import { useKeptAlive } from './use-kept-alive.ts'

const CreateDevboxDialog = dynamic(async () => (await import('./create/create-devbox-dialog.tsx')).CreateDevboxDialog)

type Evictions = ReadonlyMap<string, Alert>

const lifetimeMs = ({ create_time_ms, end_time_ms }: Devbox) =>
  Math.max(0, (end_time_ms ?? serviceNow()) - create_time_ms)

const nodeColumn: Column<Devbox> = {
  accessorFn: ({ node }) => node?.hostname,
  id: 'node',
  header: 'Node',
  cell: ({ getValue }) => <NodeLink hostname={getValue()} />,
  meta: { priority: 4, width: '9rem' },
}

const columnsFor = (
  params: DevboxSearchParams,
  evictions: Evictions,
  keptAlive: ReadonlyMap<string, number>,
  hasCluster: boolean,
): Column<Devbox>[] => [
  nameColumn(),
  {
    accessorKey: 'status',
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
  ...(hasCluster ? [nodeColumn] : []),
  metadataColumn(params, devboxesPath),
  timeColumn('create_time_ms', 'Created'),
  {
    accessorFn: lifetimeMs,
    id: 'lifetime',
    header: 'Lifetime',
    cell: ({ row }) => <Lifetime devbox={row.original} />,
    meta: {
      priority: 5,
      align: 'right',
      width: '7rem',
      isOptional: true,
      export: { lifetime_ms: lifetimeMs },
    },
  },
  {
    accessorFn: (devbox) => timeLeftOf(devbox, evictions.get(devbox.id), keptAlive)?.at_ms,
    id: 'time-left',
    header: 'Time left',
    cell: ({ row: { original: devbox } }) => {
      const left = timeLeftOf(devbox, evictions.get(devbox.id), keptAlive)
      return left && <TimeLeftText left={left} brief />
    },
    meta: {
      priority: 3,
      align: 'right',
      width: '7rem',
      isTime: true,
      export: { unattended_end_ms: (devbox) => timeLeftOf(devbox, evictions.get(devbox.id), keptAlive)?.at_ms },
    },
  },
  optional(timeColumn('end_time_ms', 'Ended')),
]

/** Columns have the same values whatever the filters are. */
const defaultParams: DevboxSearchParams = { limit: 20, include_total_count: true }

const sourceFilters: Record<string, string> = {
  none: 'created from an empty disk',
  snapshot: 'created from a snapshot',
  blueprint: 'created from a blueprint',
}

const source = {
  noun: 'devbox',
  nouns: 'devboxes',
  params: DevboxSearchParams,
  path: devboxesPath,
  endpoint: 'devboxes.list',
  queryOf: devboxQueryOf,
  list: (query: DevboxListQuery) => devboxQueries.list(query),
  matches: devboxMatches,
  arrange: (rows: readonly Devbox[], params: DevboxSearchParams) => rows.filter(devboxFilter(params, serviceNow())),
  filters: {
    search: 'ID or name contains …',
    node: 'node is …',
    status: (statuses: string) => `status is ${statuses.replaceAll(',', ' or ')}`,
    name: 'name contains …',
    trials: (trials: string) => (trials === 'only' ? 'belongs to a benchmark trial' : null),
    blueprint: 'blueprint is …',
    source: (name: string) => sourceFilters[name] ?? null,
    size: 'size is …',
    older_than: 'older than …',
    younger_than: 'younger than …',
  },
}

interface DevboxListProps {
  serviceUrl: string
  savedColumns: string
}

export const DevboxList = ({ serviceUrl, savedColumns }: DevboxListProps) => {
  const { data: evictions } = useQuery({ ...alertQueries.feed(), select: byDevbox })
  const keptAlive = useKeptAlive()
  const cluster = useCluster()
  const hasCluster = cluster !== null
  const list = useListQuery(
    source,
    useMemo(() => columnsFor(defaultParams, evictions, keptAlive, hasCluster), [evictions, keptAlive, hasCluster]),
  )
  const { params, rows, loaded, onNearEnd } = list
  // Undefined until the dialog is first opened; after that it stays mounted and keeps what was typed.
  const [isCreating, setIsCreating] = useState<boolean>()
  const actions = useDevboxActions()
  const columns = useColumns(
    useMemo(() => columnsFor(params, evictions, keptAlive, hasCluster), [params, evictions, keptAlive, hasCluster]),
    list,
    'devboxColumns',
    savedColumns,
  )
  const trials = useTrials(list)
  const isOnlyTrials = rows.length === 0 && !list.isSearching && trials.isHidden && (trials.count ?? 0) > 0
  const create = <CreateDevboxButton onOpenForm={() => setIsCreating(true)} />
  return (
    <>
      <ListPage
        title="Devboxes"
        list={
          isOnlyTrials
            ? // Other filters are not why the list is empty.
              { ...list, filters: [], firstHref: undefined }
            : { ...list, isSearching: list.isSearching || (rows.length === 0 && trials.isPending) }
        }
        actions={create}
        bulk={useBulkActions()}
        filters={
          <FilterBar list={list} search="Search ID or name" metadata={{ keys: devboxQueries.metadataKeys() }}>
            <Popover
              trigger={<Button icon={SlidersHorizontal}>Filters</Button>}
              label="Filter devboxes"
              align="start"
              className="w-80"
            >
              <DevboxFilters params={params} nodes={cluster?.nodes ?? []} filter={list.filter} />
            </Popover>
          </FilterBar>
        }
        tools={
          <>
            <Trials params={params} {...trials} />
            <ListMenus
              source={source}
              list={list}
              columns={columns}
              call={{
                path: '/v1/devboxes',
                method: 'devboxes.list',
                pageOnly: ({ trials }) => (trials ? [] : ['hides devboxes of benchmark trials']),
              }}
              metadataKeys={devboxQueries.metadataKeys()}
              serviceUrl={serviceUrl}
            />
          </>
        }
        empty={
          isOnlyTrials ? (
            <EmptyState
              icon={FlaskConical}
              title={
                list.query.hasNextPage
                  ? `Only trial devboxes among the newest ${formatCount(loaded.length)}`
                  : 'Only trial devboxes'
              }
              action={
                <>
                  {list.query.hasNextPage && (
                    <Button busy={onNearEnd === undefined} onClick={onNearEnd}>
                      Load more devboxes
                    </Button>
                  )}
                  <ButtonLink href={devboxesPath({ ...params, trials: 'shown' })}>Show trial devboxes</ButtonLink>
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
              sample={
                <CodeSample
                  serviceUrl={serviceUrl}
                  call={{
                    path: '/v1/devboxes',
                    method: 'devboxes.create',
                    body: { name: 'my-first-devbox' },
                    result: 'devbox',
                  }}
                />
              }
            >
              A devbox is an isolated machine with a disk and a shell, for an agent or for you. It runs commands and
              terminals, can be suspended and resumed, and shuts down when its keep-alive time runs out.
            </EmptyState>
          )
        }
      >
        <DataTable
          {...list.table}
          caption="Devboxes"
          columns={columns.shown}
          onResize={columns.resize}
          rowHref={({ id }) => paths.devbox(id)}
          selection={{ ...list.selection, labelOf }}
          onNearEnd={onNearEnd}
          rowActions={(devbox) => <DevboxRowActions devbox={devbox} actions={actions} />}
          rowClassName={({ status }) => (hasEnded(status) ? 'text-muted' : undefined)}
        />
      </ListPage>
      {actions.dialogs}
      {isCreating !== undefined && <CreateDevboxDialog open={isCreating} onOpenChange={setIsCreating} />}
    </>
  )
}

const labelOf = ({ id, name }: Devbox) => `Select ${name || id}`

/** Counts the trial devboxes that the list hides or includes; null if unknown. */
const useTrials = (list: {
  params: DevboxSearchParams
  query: { data: unknown; hasNextPage: boolean }
  loaded: readonly Devbox[]
}) => {
  const { params, loaded } = list
  const isHidden = params.trials === undefined
  const query = devboxQueryOf(params)
  const counted = useQuery({ ...devboxQueries.trialCount(query), enabled: isHidden && list.query.data !== undefined })
  const matches = devboxMatches({ ...query, origin: 'trial' })
  const isShown = devboxFilter({ ...params, trials: 'only' }, serviceNow())
  const among = loaded.filter((devbox) => matches(devbox) && isShown(devbox)).length
  // A service that ignores `origin` counts own and trial devboxes together.
  const isIgnored = isHidden && loaded.some(isOfTrial)
  const isPending = isHidden && !isIgnored && counted.isPending
  if (!isHidden || isIgnored || counted.data == null)
    return { isHidden, isPending, count: among, isAtLeast: list.query.hasNextPage }
  // The service doesn't apply the page's filters to its count.
  const isNarrowed = pageFilters.some((name) => name !== 'trials' && params[name] !== query[name as 'status'])
  return { isHidden, isPending, count: isNarrowed && counted.data > 0 ? null : counted.data, isAtLeast: false }
}

interface TrialsProps extends Omit<ReturnType<typeof useTrials>, 'isPending'> {
  params: DevboxSearchParams
}

const Trials = ({ params, isHidden, count, isAtLeast }: TrialsProps) => {
  if (count === 0 || params.trials === 'only') return null
  const what = count === null ? 'Trial devboxes' : formatCountOf(count, 'trial devbox', 'trial devboxes')
  return (
    <p className="flex flex-wrap items-center gap-x-2">
      <span className="tabular">
        {isAtLeast && 'At least '}
        {what} {isHidden ? 'hidden' : 'included'}
      </span>
      <TextLink
        href={devboxesPath({ ...params, trials: isHidden ? 'shown' : undefined })}
        aria-label={`${isHidden ? 'Show' : 'Hide'} trial devboxes`}
        className="inline-flex min-h-6 min-w-6 items-center justify-center"
      >
        {isHidden ? 'Show' : 'Hide'}
      </TextLink>
    </p>
  )
}

const byDevbox = (feed: AlertFeed): Evictions =>
  new Map(pendingEvictions(feed).map((eviction) => [eviction.devbox_id, eviction]))

const useBulkActions = (): BulkAction<Devbox>[] => {
  const suspend = useMutation(devboxMutations.suspend())
  const resume = useMutation(devboxMutations.resume())
  const shutdown = useMutation(devboxMutations.shutdown())
  const keepAlive = useMutation(devboxMutations.keepAlive())
  const snapshot = useMutation(snapshotMutations.create())
  return [
    {
      icon: Play,
      verb: 'Resume',
      needs: 'devboxes.resume',
      done: 'Resuming',
      failed: "Couldn't resume every devbox",
      isEligible: (devbox) => resumeRefusal(devbox) === null,
      act: ({ id }) => resume.mutateAsync(id),
    },
    {
      icon: Clock,
      verb: 'Keep alive',
      needs: 'devboxes.keepAlive',
      done: 'Keep-alive timer restarted',
      failed: "Couldn't extend every keep-alive time",
      isEligible: ({ status }) => devboxRefusal('keep_alive', status) === null,
      act: ({ id }) => keepAlive.mutateAsync(id),
    },
    {
      icon: Camera,
      verb: 'Snapshot',
      needs: 'snapshots.createAsync',
      done: 'Taking snapshots',
      failed: "Couldn't take every snapshot",
      isEligible: ({ status }) => devboxRefusal('snapshot', status) === null,
      act: ({ id }) => snapshot.mutateAsync({ devboxId: id }),
    },
    {
      icon: Pause,
      verb: 'Suspend',
      needs: 'devboxes.suspend',
      done: 'Suspending',
      failed: "Couldn't suspend every devbox",
      consequence: (count) =>
        `Stops the processes and terminals of ${count} now. Disks are kept, and the devboxes can be resumed.`,
      isEligible: ({ status }) => devboxRefusal('suspend', status) === null,
      act: ({ id }) => suspend.mutateAsync(id),
    },
    {
      icon: Power,
      verb: 'Shut down',
      needs: 'devboxes.shutdown',
      done: 'Shutting down',
      failed: "Couldn't shut down every devbox",
      consequence: (count) =>
        `Deletes the processes, terminals and disks of ${count} now. A devbox that is shut down can't be started again.`,
      isDestructive: true,
      isEligible: (devbox) => shutdownRefusal(devbox) === null,
      act: ({ id }) => shutdown.mutateAsync(id),
    },
  ]
}

const DevboxRowActions = ({ devbox, actions }: { devbox: Devbox; actions: DevboxActions }) => {
  const router = useRouter()
  const name = devbox.name || devbox.id
  const canResume = resumeRefusal(devbox) === null
  const busy = actions.busyId === devbox.id
  return (
    <>
      {canResume ? (
        <IconButton
          size="sm"
          icon={Play}
          label={`Resume ${name}`}
          needs="devboxes.resume"
          busy={busy}
          onClick={() => actions.resume(devbox)}
        />
      ) : (
        <IconButton
          size="sm"
          icon={SquareTerminal}
          label={`Open terminal of ${name}`}
          disabledReason={devboxRefusal('open_terminal', devbox.status)}
          onClick={() => router.push(paths.devbox(devbox.id, 'terminal'))}
        />
      )}
      <DropdownMenu
        label={`Actions for ${name}`}
        trigger={<IconButton size="sm" icon={Ellipsis} label={`More actions for ${name}`} />}
        items={[
          {
            label: 'Open terminal',
            icon: SquareTerminal,
            href: paths.devbox(devbox.id, 'terminal'),
            disabledReason: devboxRefusal('open_terminal', devbox.status),
          },
          'separator',
          {
            label: 'Suspend devbox',
            needs: 'devboxes.suspend',
            icon: Pause,
            disabledReason: devboxRefusal('suspend', devbox.status),
            onSelect: () => actions.suspend(devbox),
          },
          {
            label: 'Resume devbox',
            needs: 'devboxes.resume',
            icon: Play,
            disabledReason: resumeRefusal(devbox),
            onSelect: () => actions.resume(devbox),
          },
          {
            label: 'Shut down devbox',
            needs: 'devboxes.shutdown',
            icon: Power,
            tone: 'danger',
            disabledReason: shutdownRefusal(devbox),
            onSelect: () => actions.shutdown(devbox),
          },
        ]}
      />
    </>
  )
}
