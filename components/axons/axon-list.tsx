'use client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus, RotateCw, Waypoints } from 'lucide-react'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { remember } from '#components/layout/remember.ts'
import { ListAge } from '#components/list/list-age.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import type { HowToChange } from '#components/list/use-address.ts'
import { useListPage } from '#components/list/use-list-page.ts'
import { Button } from '#components/ui/button.tsx'
import { DataTable } from '#components/ui/data-table.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
import {
  AxonView,
  apiQueryOf,
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
import { curlPost } from '#lib/console/api/curl-post.ts'
import { formatCount, formatSize } from '#lib/console/frame/format.ts'
import { shownBy, sortAxons, sortOf } from '#lib/console/lists/axon-rows.ts'
import { type AxonRows, countedIn, fitsOneCall, isRefreshed, readSince } from '#lib/console/queries/axon/rows.ts'
import { axonQueries } from '#lib/console/queries/axons.ts'
import type { Axon } from '#lib/contract/axons.ts'
import { tableColumns } from './axon-columns.tsx'
import { AxonFilters } from './axon-filters.tsx'
import { AxonListMenus, SelectionBar } from './axon-list-menus.tsx'

const CreateAxonDialog = loadOnUse(async () => (await import('./create-axon-dialog.tsx')).CreateAxonDialog)
const ColumnDialog = loadOnUse(async () => (await import('./column-dialog.tsx')).ColumnDialog)

const source = {
  noun: 'axon',
  nouns: 'axons',
  schema: AxonView,
  path: axonViewPath,
  filters: {
    search: 'id or name contains …',
    name: 'name starts with …',
    id: 'id is …',
    state: 'is …',
    created: 'created … UTC',
  },
  pages: (view: AxonView) => axonQueries.rows(apiQueryOf(view), view.limit),
  rowsOf: ({ axons }: AxonRows) => axons,
  isPolled: true,
  // The service neither orders axons otherwise nor tells the deleted ones apart.
  arrange: {
    by: ['state', 'created', 'sort'] as const,
    rows: (axons: readonly Axon[], { state, created, sort }: AxonView) => {
      const narrowed = state || created ? axons.filter(shownBy({ state, created })) : axons
      const by = sortOf({ sort })
      return by ? sortAxons(narrowed, by) : narrowed
    },
  },
}

interface AxonListProps {
  serviceUrl: string
  /** The columns this browser chose last, for addresses that name none. */
  rememberedColumns: string
}

export const AxonList = ({ serviceUrl, rememberedColumns }: AxonListProps) => {
  const page = useListPage(source)
  const { view, change, list, rows, loaded, selectedRows } = page
  const [isCreating, setIsCreating] = useState(false)
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
  const pages = list.data?.pages ?? []
  const bringsAll = view.limit === undefined && fitsOneCall(pages) && !list.isPlaceholderData
  const { onNearEnd } = page
  useEffect(() => {
    if (bringsAll) onNearEnd?.()
  }, [bringsAll, onNearEnd])
  const client = useQueryClient()
  const asked = apiQueryOf(view)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is asked for is told by its text
  useEffect(() => axonQueries.join(asked, view.limit, client), [client, JSON.stringify([asked, view.limit])])
  const refresh = useQuery({ ...axonQueries.refresh(asked, view.limit), enabled: list.isSuccess })
  // Rows that are loaded later take their places at once; only what is new to the service waits for the pointer.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each page
  useEffect(() => page.release(), [pages.length])
  const isWhole = !list.hasNextPage && !list.isPlaceholderData
  // A list that starts at a cursor does not know how much lies before it.
  const total = view.starting_after ? null : isWhole ? loaded.length : countedIn(pages)
  const seenKeys = () => [...new Set(rows.slice(0, 500).flatMap(({ metadata }) => Object.keys(metadata)))].sort()
  const create = (
    <Button variant="primary" icon={Plus} onClick={() => setIsCreating(true)}>
      Create axon
    </Button>
  )
  return (
    <>
      <ListPage
        title="Axons"
        page={page}
        actions={create}
        filterBar={<AxonFilters page={page} seenKeys={seenKeys} />}
        count={formatSize({ shown: rows.length, loaded: loaded.length, total, hasMore: !isWhole })}
        columns={5}
        none={
          <EmptyState
            icon={Waypoints}
            title="No axons yet"
            action={create}
            command={curlPost(serviceUrl, '/v1/axons', '{"name": "first-axon", "metadata": {"env": "dev"}}')}
          >
            An axon is a named record with metadata of your own, a log of events and a small database. A deleted axon
            stays in the list with the time of its deletion.
          </EmptyState>
        }
        tools={
          <>
            {(sort || view.state || view.created) && !isWhole && <p>{partialNote(view, loaded.length)}</p>}
            {pages.length > 0 && (
              <ListAge ms={readSince(pages)} error={refresh.error} isRefreshed={isRefreshed(pages)} />
            )}
            <div data-page-actions className="ml-auto flex items-center gap-1">
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
                label="Refresh"
                busy={list.isRefetching}
                onClick={() => void list.refetch()}
              />
            </div>
          </>
        }
      >
        <DataTable
          {...page.table}
          caption={sort ? 'Axons' : 'Axons, newest first'}
          columns={columns}
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
          selection={{ ...page.selection, labelOf }}
          onNearEnd={onNearEnd}
        />
      </ListPage>
      {selectedRows.length > 0 && (
        <SelectionBar rows={selectedRows} columns={choices} onClear={() => page.setSelected([])} />
      )}
      {isChoosing && (
        <ColumnDialog
          columns={choices}
          onChange={setColumns}
          onClose={() => setIsChoosing(false)}
          seenKeys={seenKeys}
        />
      )}
      <CreateAxonDialog open={isCreating} onOpenChange={setIsCreating} />
    </>
  )
}

const labelOf = ({ id }: Axon) => `Select ${id}`
const hrefOf = ({ id }: Axon) => paths.axon(id)
const classOf = ({ deleted_at_ms }: Axon) => (deleted_at_ms == null ? undefined : 'text-muted')

const partialNote = ({ sort, state, created }: AxonView, loaded: number): string => {
  const what = [sort && 'Sorted', (state || created) && 'filtered'].filter(Boolean).join(' and ')
  return `${what.charAt(0).toUpperCase()}${what.slice(1)} over the ${formatCount(loaded)} loaded`
}

/** The columns of the address; without any those this browser chose last, which then stand in the address. */
const useColumns = (
  { columns }: AxonView,
  remembered: string,
  change: (part: Partial<AxonView>, how: HowToChange) => void,
): readonly ColumnChoice[] => {
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
