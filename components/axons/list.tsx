'use client'
import { CalendarRange, Download, Plus, RotateCw, Search, Waypoints } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useEffect, useId, useMemo, useState, useTransition } from 'react'
import { CodeSample } from '#components/layout/code-samples.tsx'
import type { Column } from '#components/list/column.ts'
import { idColumn, metadataColumn, nameColumn, optional, timeColumn } from '#components/list/columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { FilterBar, type FilterBarProps } from '#components/list/filter-bar.tsx'
import { FilterSelect } from '#components/list/filter-fields.tsx'
import { exportItems, ListMenus } from '#components/list/list-menus.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import type { HowToChange } from '#components/list/use-address.ts'
import { useColumns } from '#components/list/use-columns.ts'
import { useListQuery } from '#components/list/use-list-query.ts'
import { Button } from '#components/ui/button.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { TextField } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Input } from '#components/ui/input.tsx'
import { Popover } from '#components/ui/popover.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatSize } from '#lib/browser/format.ts'
import { axonMatches } from '#lib/browser/lists/row-filters.ts'
import { serviceNow } from '#lib/client/clock.ts'
import type { Axon } from '#lib/contract/axons.ts'
import { AxonState } from './axon-state.tsx'
import { axonQueries, countedIn, fitsOneCall } from './queries.ts'
import {
  AxonSearchParams,
  axonFilter,
  axonQueryOf,
  axonsPath,
  readRange,
  type TimeRange,
  writeRange,
} from './search-params.ts'
import { type AxonSearch, readAxonSearch, writeAxonSearch } from './search-text.ts'

const hourMs = 3_600_000
const spans = [
  { label: 'Last hour', ms: hourMs },
  { label: 'Last 24 hours', ms: 24 * hourMs },
  { label: 'Last 7 days', ms: 7 * 24 * hourMs },
  { label: 'Last 30 days', ms: 30 * 24 * hourMs },
] as const

interface CreatedFilterProps {
  value: string | undefined
  onChange: (range: string | undefined) => void
}

/** In UTC, so that an address means the same everywhere. */
const CreatedFilter = ({ value, onChange }: CreatedFilterProps) => {
  const [isOpen, setIsOpen] = useState(false)
  const range = (value && readRange(value)) || {}
  const set = (part: Partial<TimeRange>) => onChange(writeRange({ ...range, ...part }))
  return (
    <Popover
      trigger={<Button icon={CalendarRange}>Created</Button>}
      label="Filter by creation time"
      align="start"
      open={isOpen}
      onOpenChange={setIsOpen}
    >
      <div className="flex flex-wrap gap-1.5">
        {spans.map(({ label, ms }) => (
          <Button
            key={label}
            size="sm"
            onClick={() => {
              onChange(writeRange({ fromMs: serviceNow() - ms }))
              setIsOpen(false)
            }}
          >
            {label}
          </Button>
        ))}
      </div>
      <TextField
        label="From"
        hint="UTC, inclusive"
        type="datetime-local"
        value={toInput(range.fromMs)}
        onText={(text) => set({ fromMs: fromInput(text) })}
      />
      <TextField
        label="Before"
        hint="UTC, exclusive"
        type="datetime-local"
        value={toInput(range.beforeMs)}
        onText={(text) => set({ beforeMs: fromInput(text) })}
      />
      {value && (
        <Button size="sm" variant="ghost" onClick={() => onChange(undefined)}>
          Any time
        </Button>
      )}
    </Popover>
  )
}

const toInput = (ms: number | undefined): string => (ms === undefined ? '' : new Date(ms).toISOString().slice(0, 16))

const fromInput = (text: string): number | undefined => {
  const ms = Date.parse(`${text}Z`)
  return text === '' || Number.isNaN(ms) ? undefined : ms
}

interface AxonFiltersProps {
  list: FilterBarProps['list'] & {
    params: AxonSearchParams
    filter: (part: Partial<AxonSearchParams>, how: HowToChange) => void
  }
}

const AxonFilters = ({ list }: AxonFiltersProps) => (
  <FilterBar
    list={list}
    metadata={{ keys: axonQueries.metadataKeys(), values: (key) => axonQueries.metadataValues(key) }}
  >
    <SearchField list={list} />
    <FilterSelect
      label="State"
      any="Any state"
      value={list.params.state}
      words={{ active: 'Active', deleted: 'Deleted' }}
      onFilter={(state) => list.filter({ state }, 'push')}
    />
    <CreatedFilter value={list.params.created} onChange={(created) => list.filter({ created }, 'push')} />
  </FilterBar>
)

/** Searches name, ID and metadata in one field. Below it, each recognized part is a filter that can be removed. */
const SearchField = ({ list: { params, filter } }: AxonFiltersProps) => {
  const hintId = useId()
  const [typed, setTyped] = useState('')
  const parsed = readAxonSearch(typed)
  // A link or the back button may have changed the filters.
  const isCurrent = pathOf(parsed.filters) === pathOf(params)
  const hint = parsed.problem ?? (parsed.filters.metadata ? 'Use quotes to search names and IDs for this text' : '')
  return (
    <span className="w-full sm:w-96">
      <Input
        data-filter-input
        icon={Search}
        type="search"
        aria-label="Search name, ID or key:value"
        placeholder="Search name, ID or key:value"
        aria-describedby={hintId}
        value={isCurrent ? typed : writeAxonSearch(params)}
        onChange={({ target }) => {
          setTyped(target.value)
          const { search, name, id, metadata } = readAxonSearch(target.value).filters
          filter({ search, name, id, metadata }, 'type')
        }}
      />
      <span id={hintId} className="mt-0.5 block text-xs text-muted empty:hidden">
        {isCurrent && hint}
      </span>
    </span>
  )
}

const pathOf = ({ search, name, id, metadata }: AxonSearch) => axonsPath({ search, name, id, metadata })

const CreateAxonDialog = dynamic(async () => (await import('./create-axon-dialog.tsx')).CreateAxonDialog)

const columnsFor = (params: AxonSearchParams): Column<Axon>[] => {
  const created = timeColumn<Axon>('created_at_ms', 'Created')
  const deleted = timeColumn<Axon>('deleted_at_ms', 'Deleted')
  return [
    nameColumn(),
    idColumn(),
    {
      accessorFn: ({ deleted_at_ms }) => (deleted_at_ms == null ? 'active' : 'deleted'),
      id: 'state',
      header: 'State',
      cell: ({ row }) => <AxonState axon={row.original} />,
      meta: { priority: 2, width: '11rem' },
    },
    metadataColumn(params, axonsPath, 3),
    { ...created, meta: { ...created.meta, priority: 3, width: '8rem' } },
    optional({ ...deleted, meta: { ...deleted.meta, width: '8rem' } }),
  ]
}

const source = {
  noun: 'axon',
  nouns: 'axons',
  params: AxonSearchParams,
  path: axonsPath,
  columns: columnsFor({ include_total_count: true }),
  queryOf: (params: AxonSearchParams) => ({ ...axonQueryOf(params), limit: params.limit }),
  list: ({ limit, ...query }: ReturnType<typeof axonQueryOf> & { limit: number | undefined }) =>
    axonQueries.rows(query, limit),
  matches: axonMatches,
  arrange: (rows: readonly Axon[], params: AxonSearchParams) =>
    params.state || params.created ? rows.filter(axonFilter(params)) : rows,
  filters: {
    search: 'ID or name contains …',
    name: 'name starts with …',
    id: 'ID is …',
    state: 'is …',
    created: 'created … UTC',
  },
}

interface AxonListProps {
  serviceUrl: string
  savedColumns: string
}

export const AxonList = ({ serviceUrl, savedColumns }: AxonListProps) => {
  const list = useListQuery(source)
  const { params, query, rows, loaded, selectedRows, onNearEnd, release } = list
  // Undefined until the dialog is first opened; after that it stays mounted and keeps what was typed.
  const [isCreating, setIsCreating] = useState<boolean>()
  const columns = useColumns(
    useMemo(() => columnsFor(params), [params]),
    list,
    'axonColumns',
    savedColumns,
  )
  const pages = query.data?.pages ?? []
  const loadsAll = params.limit === undefined && fitsOneCall(pages) && !query.isPlaceholderData
  useEffect(() => {
    if (loadsAll) onNearEnd?.()
  }, [loadsAll, onNearEnd])
  const [isRefreshing, refresh] = useTransition()
  // Later pages are shown at once; only rows that are new to the service wait for the pointer.
  // biome-ignore lint/correctness/useExhaustiveDependencies: with each page
  useEffect(() => release(), [query.isFetchingNextPage])
  const isComplete = !query.hasNextPage && !query.isPlaceholderData
  // Unknown if the list starts at a cursor.
  const total = params.starting_after ? null : isComplete ? loaded.length : list.unmatched > 0 ? null : countedIn(pages)
  const create = (
    <Button variant="primary" icon={Plus} needs="axons.create" onClick={() => setIsCreating(true)}>
      Create axon
    </Button>
  )
  return (
    <>
      <ListPage
        title="Axons"
        list={list}
        actions={create}
        bulkTools={
          <>
            <CopyButton what="IDs" text={() => selectedRows.map(({ id }) => id).join('\n')} />
            <DropdownMenu
              label="Export selected"
              trigger={
                <Button size="sm" variant="ghost" icon={Download}>
                  Export selected
                </Button>
              }
              items={exportItems(`${formatCount(selectedRows.length)} selected`, 'axons', selectedRows, columns.shown)}
            />
          </>
        }
        filters={<AxonFilters list={list} />}
        count={formatSize({ shown: rows.length, loaded: loaded.length, total, hasMore: !isComplete })}
        tools={
          <>
            {(params.state || params.created) && !isComplete && (
              <p>{`Filters only the ${formatCount(loaded.length)} loaded axons`}</p>
            )}
            <ListMenus
              source={source}
              list={list}
              columns={columns}
              call={{ path: '/v1/axons', method: 'axons.list' }}
              metadataKeys={axonQueries.metadataKeys()}
              serviceUrl={serviceUrl}
            >
              <IconButton icon={RotateCw} label="Refresh" busy={isRefreshing} onClick={() => refresh(list.refresh)} />
            </ListMenus>
          </>
        }
        empty={
          <EmptyState
            icon={Waypoints}
            title="No axons yet"
            action={create}
            sample={
              <CodeSample
                serviceUrl={serviceUrl}
                call={{
                  path: '/v1/axons',
                  method: 'axons.create',
                  body: { name: 'first-axon', metadata: { env: 'dev' } },
                  result: 'axon',
                }}
              />
            }
          >
            An axon is a named record with metadata, an event log and a small database. Deleted axons stay in this list.
          </EmptyState>
        }
      >
        <DataTable
          {...list.table}
          caption="Axons"
          columns={columns.shown}
          onResize={columns.resize}
          rowHref={hrefOf}
          rowClassName={classOf}
          totalRows={isComplete ? rows.length : total}
          selection={{ ...list.selection, labelOf }}
          onNearEnd={onNearEnd}
        />
      </ListPage>
      {isCreating !== undefined && <CreateAxonDialog open={isCreating} onOpenChange={setIsCreating} />}
    </>
  )
}

const labelOf = ({ id }: Axon) => `Select ${id}`
const hrefOf = ({ id }: Axon) => paths.axon(id)
const classOf = ({ deleted_at_ms }: Axon) => (deleted_at_ms == null ? undefined : 'text-muted')
