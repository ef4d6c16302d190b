'use client'
import { Plus, RotateCw, Waypoints } from 'lucide-react'
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { AddressProblem } from '#components/filters/address-problem.tsx'
import { remember } from '#components/layout/remember.ts'
import { ListView } from '#components/list/list-view.tsx'
import { useAddress } from '#components/list/use-address.ts'
import { useListMemory } from '#components/list/use-list-memory.ts'
import { Button } from '#components/ui/button.tsx'
import { DataTable } from '#components/ui/data-table.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import {
  AxonView,
  axonViewPath,
  type ColumnChoice,
  type ColumnId,
  defaultColumns,
  nextSort,
  readColumns,
  writeColumns,
  writeSort,
} from '#lib/console/address/axon-view.ts'
import { paths } from '#lib/console/address/paths.ts'
import { formatCount, formatSize } from '#lib/console/frame/format.ts'
import { sortOf } from '#lib/console/lists/axon-rows.ts'
import { emptySelection, select } from '#lib/console/lists/selection.ts'
import type { Axon } from '#lib/contract/axons.ts'
import { parseQuery } from '#lib/contract/query-string.ts'
import { tableColumns } from './axon-columns.tsx'
import { AxonFilters, activeFilters, type ChangeView, withoutFilters } from './axon-filters.tsx'
import { AxonListMenus, SelectionBar } from './axon-list-menus.tsx'
import { ColumnDialog } from './column-dialog.tsx'
import { CreateAxonDialog } from './create-axon-dialog.tsx'
import { useAxonRows } from './use-axon-rows.ts'

export interface AxonListProps {
  serviceUrl: string
  /** The columns this browser chose last, for addresses that name none. */
  rememberedColumns: string
}

export const AxonList = ({ serviceUrl, rememberedColumns }: AxonListProps) => {
  const { parsed, view, settled, change, followHere } = useAddress(readView, axonViewPath)
  const [isCreating, setIsCreating] = useState(false)
  const create = (
    <Button variant="primary" icon={Plus} onClick={() => setIsCreating(true)}>
      Create axon
    </Button>
  )
  return (
    <div onClickCapture={followHere}>
      <PageHeader title="Axons" actions={create} />
      {view && settled ? (
        <List
          view={view}
          settled={settled}
          change={change}
          serviceUrl={serviceUrl}
          rememberedColumns={rememberedColumns}
          create={create}
        />
      ) : (
        <AddressProblem problems={parsed.ok ? [] : parsed.problems} clearHref={paths.axons()} />
      )}
      <CreateAxonDialog open={isCreating} onOpenChange={setIsCreating} />
    </div>
  )
}

const readView = (params: URLSearchParams) => parseQuery(AxonView, params)

interface ListProps extends AxonListProps {
  view: AxonView
  settled: AxonView
  change: ChangeView
  create: ReactNode
}

const List = ({ view, settled, change, serviceUrl, rememberedColumns, create }: ListProps) => {
  const { list, rows, loaded, total, isWhole, isAsking } = useAxonRows(view, settled)
  const [selection, setSelection] = useState(emptySelection)
  const [isChoosing, setIsChoosing] = useState(false)
  const choices = useColumns(view, rememberedColumns, change)
  const columns = useMemo(() => tableColumns(choices, view), [choices, view])
  const sort = sortOf(view)

  const setColumns = useCallback(
    (next: readonly ColumnChoice[]) => {
      const text = writeColumns(next)
      remember('axonColumns', text ?? '')
      change({ columns: text }, 'replace')
    },
    [change],
  )
  const loadMore = list.hasNextPage && !list.isFetchingNextPage ? () => void list.fetchNextPage() : undefined
  useListMemory({
    address: axonViewPath(settled),
    loaded: list.isPlaceholderData ? 0 : (list.data?.pages.reduce((sum, { axons }) => sum + axons.length, 0) ?? 0),
    // A list that could not go on is shown as far as it is.
    hasMore: list.hasNextPage && !list.isFetchNextPageError,
    loadMore,
    selected: selection.selected,
    onRestore: (selected) => setSelection({ selected: new Set(selected), anchor: null }),
  })
  const order = useRef(rows)
  useEffect(() => {
    order.current = rows
  })
  // The same function for good: a new one would draw every row anew.
  const selectRow = useCallback(
    (key: string, range: boolean) =>
      setSelection((before) => select(before, key, { range, order: range ? order.current.map(idOf) : [] })),
    [],
  )
  const seenKeys = () => [...new Set(rows.slice(0, 500).flatMap(({ metadata }) => Object.keys(metadata)))].sort()
  const selectedRows = useMemo(
    () => (selection.selected.size > 0 ? rows.filter(({ id }) => selection.selected.has(id)) : []),
    [rows, selection],
  )
  return (
    <>
      <AxonFilters view={view} onChange={change} seenKeys={seenKeys} />
      <ListView
        noun="axon"
        nouns="axons"
        list={list}
        shown={rows.length}
        loaded={loaded}
        count={
          isAsking
            ? `Showing ${formatCount(rows.length)} of those loaded, asking for the others`
            : formatSize({ shown: rows.length, loaded, total, hasMore: !isWhole })
        }
        isAsking={isAsking || list.isPlaceholderData}
        columns={5}
        filters={activeFilters(view)}
        clearHref={withoutFilters(view)}
        newestHref={view.starting_after && axonViewPath({ ...view, starting_after: undefined })}
        none={<None create={create} serviceUrl={serviceUrl} />}
        tools={
          <>
            {(sort || view.state || view.created) && !isWhole && !isAsking && <p>{partialNote(view, loaded)}</p>}
            <div className="ml-auto flex items-center gap-1">
              <AxonListMenus
                view={view}
                columns={choices}
                rows={rows}
                selectedRows={selectedRows}
                serviceUrl={serviceUrl}
                onColumns={() => setIsChoosing(true)}
              />
              <IconButton
                icon={RotateCw}
                label="Read again"
                busy={list.isRefetching}
                onClick={() => void list.refetch()}
              />
            </div>
          </>
        }
      >
        <DataTable
          caption={sort ? 'Axons' : 'Axons, newest first'}
          columns={columns}
          rows={rows}
          rowKey={idOf}
          rowHref={hrefOf}
          rowClassName={classOf}
          totalRows={isWhole ? rows.length : total}
          sort={sort}
          onSort={(column) => {
            const next = nextSort(sort, column as ColumnId)
            change({ sort: next ? writeSort(next) : undefined }, 'push')
          }}
          onResize={(column, width) =>
            setColumns(choices.map((choice) => (choice.id === column ? { id: choice.id, width } : choice)))
          }
          selection={{
            selected: selection.selected,
            onSelect: selectRow,
            onSelectAll: (isOn) => setSelection({ selected: new Set(isOn ? rows.map(idOf) : []), anchor: null }),
            labelOf,
          }}
          onNearEnd={list.isFetchNextPageError || list.isPlaceholderData ? undefined : loadMore}
          busy={list.isPlaceholderData}
        />
      </ListView>
      {selectedRows.length > 0 && (
        <SelectionBar rows={selectedRows} columns={choices} onClear={() => setSelection(emptySelection)} />
      )}
      {isChoosing && (
        <ColumnDialog
          columns={choices}
          onChange={setColumns}
          onClose={() => setIsChoosing(false)}
          seenKeys={seenKeys}
        />
      )}
    </>
  )
}

const idOf = ({ id }: Axon) => id
const labelOf = ({ id }: Axon) => `Select ${id}`
const hrefOf = ({ id }: Axon) => paths.axon(id)
const classOf = ({ deleted_at_ms }: Axon) => (deleted_at_ms == null ? undefined : 'text-muted')

const partialNote = ({ sort, state, created }: AxonView, loaded: number): string => {
  const what = [sort && 'Sorted', (state || created) && 'filtered'].filter(Boolean).join(' and ')
  return `${what.charAt(0).toUpperCase()}${what.slice(1)} over the ${formatCount(loaded)} loaded`
}

/** The columns of the address; without any those this browser chose last, which then stand in the address. */
const useColumns = ({ columns }: AxonView, remembered: string, change: ChangeView): readonly ColumnChoice[] => {
  const [initial, setInitial] = useState(remembered)
  useEffect(() => {
    if (initial === '') return
    // Once: who takes the columns back later means it.
    setInitial('')
    if (columns === undefined && readColumns(initial)) change({ columns: initial }, 'replace')
  }, [initial, columns, change])
  const text = columns ?? initial
  return useMemo(() => (text ? readColumns(text) : null) ?? defaultColumns, [text])
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
    An axon is a named record with metadata of your own, a log of events and a small database. A deleted axon stays in
    the list with the time of its deletion.
  </EmptyState>
)
