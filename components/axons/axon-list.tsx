'use client'
import { Plus, RotateCw, Waypoints } from 'lucide-react'
import { useEffect, useMemo, useState, useTransition } from 'react'
import { chosenColumns } from '#components/list/chosen-columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { ListMenus } from '#components/list/list-menus.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import { type DrawnColumns, useColumns } from '#components/list/use-columns.ts'
import { useListPage } from '#components/list/use-list-page.ts'
import { Button } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
import { AxonView, apiQueryOf, axonViewPath, type Sort, writeSort } from '#lib/browser/address/axon-view.ts'
import { axonColumns } from '#lib/browser/address/columns/axon-columns.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { curlPost } from '#lib/browser/api/code-samples.ts'
import { formatCount, formatSize } from '#lib/browser/format.ts'
import { shownBy, sortAxons, sortOf } from '#lib/browser/lists/axon-rows.ts'
import { axonMatches } from '#lib/browser/lists/row-filters.ts'
import { countedIn, fitsOneCall } from '#lib/browser/queries/axon/rows.ts'
import { axonQueries } from '#lib/browser/queries/axons.ts'
import type { Shown } from '#lib/browser/queries/list/pages.ts'
import type { Axon, AxonList as Axons } from '#lib/contract/axons.ts'
import { columnsFor } from './axon-columns.tsx'
import { AxonFilters } from './axon-filters.tsx'

const CreateAxonDialog = loadOnUse(async () => (await import('./create-axon-dialog.tsx')).CreateAxonDialog)

const AxonSelection = loadOnUse(async () => (await import('./axon-selection.tsx')).AxonSelection)

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
  refresh: (view: AxonView, shown: () => Shown<Axon>) => axonQueries.refresh(apiQueryOf(view), view.limit, shown),
  rowsOf: ({ axons }: Axons) => axons,
  matches: (view: AxonView) => axonMatches(apiQueryOf(view)),
  // The service neither orders axons otherwise nor tells the deleted ones apart.
  arrange: {
    by: ['state', 'created', 'sort'] as const,
    rows: (axons: readonly Axon[], { state, created, sort }: AxonView) => {
      const narrowed = state || created ? axons.filter(shownBy({ state, created })) : axons
      const by = sortOf({ sort })
      return by ? sortAxons(narrowed, by) : narrowed
    },
  },
} as const

const fields = async () => (await import('#lib/browser/lists/axon-fields.ts')).axonFields

interface AxonListProps {
  serviceUrl: string
  drawnColumns: DrawnColumns
}

export const AxonList = ({ serviceUrl, drawnColumns }: AxonListProps) => {
  const page = useListPage(source)
  const { view, change, list, rows, loaded, selectedRows } = page
  const [isCreating, setIsCreating] = useState(false)
  const columns = useColumns(axonColumns, page, drawnColumns)
  const shownColumns = useMemo(
    () => chosenColumns(columns.choices, axonColumns, columnsFor(view)),
    [columns.choices, view],
  )
  const sort = sortOf(view)
  const pages = list.data?.pages ?? []
  const bringsAll = view.limit === undefined && fitsOneCall(pages) && !list.isPlaceholderData
  const { onNearEnd } = page
  useEffect(() => {
    if (bringsAll) onNearEnd?.()
  }, [bringsAll, onNearEnd])
  const [isReading, read] = useTransition()
  // Rows that are loaded later take their places at once; only what is new to the service waits for the pointer.
  // biome-ignore lint/correctness/useExhaustiveDependencies: with each page
  useEffect(() => page.release(), [list.isFetchingNextPage])
  const isWhole = !list.hasNextPage && !list.isPlaceholderData
  // A list that starts at a cursor does not know how much lies before it.
  const total = view.starting_after ? null : isWhole ? loaded.length : page.unmatched > 0 ? null : countedIn(pages)
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
            {
              'An axon is a named record with metadata of your own, a log of events and a small database. A deleted axon stays in the list with the time of its deletion.'
            }
          </EmptyState>
        }
        tools={
          <>
            {(sort || view.state || view.created) && !isWhole && <p>{partialNote(view, loaded.length)}</p>}
            <ListMenus
              source={source}
              page={page}
              columns={columns}
              metadataKeys={axonQueries.metadataKeys()}
              fields={fields}
              serviceUrl={serviceUrl}
            >
              <IconButton icon={RotateCw} label="Refresh" busy={isReading} onClick={() => read(page.readAgain)} />
            </ListMenus>
          </>
        }
      >
        <DataTable
          {...page.table}
          caption={sort ? 'Axons' : 'Axons, newest first'}
          columns={shownColumns}
          rowHref={hrefOf}
          rowClassName={classOf}
          totalRows={isWhole ? rows.length : total}
          sort={sort}
          onSort={(next) => {
            change({ sort: next ? writeSort(next as Sort) : undefined }, 'push')
          }}
          onResize={columns.onResize}
          selection={{ ...page.selection, labelOf }}
          onNearEnd={onNearEnd}
        />
      </ListPage>
      {selectedRows.length > 0 && (
        <AxonSelection
          rows={selectedRows}
          source={source}
          columns={columns}
          fields={fields}
          onClear={() => page.setSelected([])}
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
  const isFiltered = Boolean(state || created)
  const values = { count: formatCount(loaded) }
  if (!sort) return `Filtered over the ${values.count} loaded`
  return `${isFiltered ? 'Sorted and filtered' : 'Sorted'} over the ${values.count} loaded`
}
