'use client'
import { Camera } from 'lucide-react'
import { FilterBar } from '#components/filters/filter-bar.tsx'
import { ListMenus } from '#components/list/list-menus.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import { type DrawnColumns, useColumns } from '#components/list/use-columns.ts'
import { useListPage } from '#components/list/use-list-page.ts'
import { ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
import { snapshotColumns } from '#lib/browser/address/columns/snapshot-columns.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { SnapshotListView, snapshotQueryOf, snapshotsFoundBy } from '#lib/browser/address/snapshot-list-view.ts'
import { curlPost } from '#lib/browser/api/code-samples.ts'
import { snapshotMatches } from '#lib/browser/lists/row-filters.ts'
import type { Shown } from '#lib/browser/queries/list/pages.ts'
import type { Snapshot, SnapshotList as Snapshots } from '#lib/contract/snapshots.ts'
import { snapshotQueries } from './queries.ts'
import { SnapshotTable } from './snapshot-table.tsx'

const SnapshotSelection = loadOnUse(async () => (await import('./snapshot-selection.tsx')).SnapshotSelection)

const source = {
  noun: 'snapshot',
  nouns: 'snapshots',
  schema: SnapshotListView,
  path: paths.snapshots,
  filters: {
    search: 'id, name or message contains …',
    devbox_id: 'devbox is …',
    source_blueprint_id: 'blueprint is …',
  },
  pages: (view: SnapshotListView) => snapshotQueries.list(snapshotQueryOf(view)),
  refresh: (view: SnapshotListView, shown: () => Shown<Snapshot>) =>
    snapshotQueries.refresh(snapshotQueryOf(view), shown),
  rowsOf: ({ snapshots }: Snapshots) => snapshots,
  matches: (view: SnapshotListView) => snapshotMatches(snapshotQueryOf(view)),
  arrange: {
    by: ['search' as const],
    rows: (snapshots: readonly Snapshot[], view: SnapshotListView) => snapshots.filter(snapshotsFoundBy(view)),
  },
} as const

const fields = async () => (await import('./snapshot-fields.ts')).snapshotFields

interface SnapshotListProps {
  serviceUrl: string
  drawnColumns: DrawnColumns
}

export const SnapshotList = ({ serviceUrl, drawnColumns }: SnapshotListProps) => {
  const page = useListPage(source)
  const { selectedRows } = page
  const columns = useColumns(snapshotColumns, page, drawnColumns)
  return (
    <>
      <ListPage
        title="Snapshots"
        page={page}
        filterBar={
          <FilterBar
            page={page}
            search="Search name, message or id"
            metadata={{ keys: snapshotQueries.metadataKeys() }}
          />
        }
        columns={5}
        tools={
          <ListMenus
            source={source}
            page={page}
            columns={columns}
            metadataKeys={snapshotQueries.metadataKeys()}
            fields={fields}
            serviceUrl={serviceUrl}
          />
        }
        none={
          <EmptyState
            icon={Camera}
            title="No snapshots yet"
            action={<ButtonLink href={paths.devboxes()}>All devboxes</ButtonLink>}
            command={curlPost(serviceUrl, '/v1/devboxes/DEVBOX_ID/snapshot_disk', '{"name": "after-setup"}')}
          >
            {"A snapshot is a copy of a devbox's disk, taken on its page. New devboxes can be created from it."}
          </EmptyState>
        }
      >
        <SnapshotTable
          {...page.table}
          selection={{ ...page.selection, labelOf }}
          onNearEnd={page.onNearEnd}
          query={page.view}
          chosen={columns}
          onDeleted={page.onDeleted}
        />
      </ListPage>
      {selectedRows.length > 0 && (
        <SnapshotSelection snapshots={selectedRows} onClear={() => page.setSelected([])} onDeleted={page.onDeleted} />
      )}
    </>
  )
}

const labelOf = ({ id, name }: Snapshot) => `Select ${name || id}`
