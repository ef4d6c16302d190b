'use client'
import { useQuery } from '@tanstack/react-query'
import { Box, Plus } from 'lucide-react'
import { useMemo, useState } from 'react'
import { EvictionBadge } from '#components/evictions/eviction-badge.tsx'
import { FilterBar } from '#components/filters/filter-bar.tsx'
import { FilterSelect } from '#components/filters/filter-select.tsx'
import { idColumn, metadataColumn, nameColumn, timeColumn } from '#components/list/columns.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import { useListPage } from '#components/list/use-list-page.ts'
import { Button } from '#components/ui/button.tsx'
import { DataTable } from '#components/ui/data-table.tsx'
import type { Column } from '#components/ui/data-table-row.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { curlPost } from '#lib/console/api/curl-post.ts'
import type { EvictionFeed } from '#lib/console/live/eviction-feed.ts'
import { devboxQueries } from '#lib/console/queries/devboxes.ts'
import { evictionQueries } from '#lib/console/queries/evictions.ts'
import { type Devbox, type DevboxList as Devboxes, DevboxListQuery, hasEnded } from '#lib/contract/devboxes.ts'
import type { Eviction } from '#lib/contract/evictions.ts'
import { DevboxRowActions } from './devbox-row-actions.tsx'
import { DevboxStatusBadge, devboxStatusWords } from './devbox-status.tsx'
import { Lifetime } from './lifetime.tsx'
import { useDevboxMoves } from './use-devbox-moves.tsx'

const CreateDevboxDialog = loadOnUse(async () => (await import('./create-devbox-dialog.tsx')).CreateDevboxDialog)

const source = {
  noun: 'devbox',
  nouns: 'devboxes',
  schema: DevboxListQuery,
  path: paths.devboxes,
  filters: { search: 'id or name contains …', status: 'status is …', name: 'name contains …' },
  pages: (query: DevboxListQuery) => devboxQueries.list(query),
  rowsOf: ({ devboxes }: Devboxes) => devboxes,
  isPolled: true,
}

export const DevboxList = ({ serviceUrl }: { serviceUrl: string }) => {
  const page = useListPage(source)
  const { view, narrow } = page
  const [isCreating, setIsCreating] = useState(false)
  const { data: evictions } = useQuery({ ...evictionQueries.feed(), select: byDevbox })
  const moves = useDevboxMoves()
  const columns = useMemo(() => columnsFor(view, evictions), [view, evictions])
  const create = (
    <Button variant="primary" icon={Plus} onClick={() => setIsCreating(true)}>
      Create devbox
    </Button>
  )
  return (
    <>
      <ListPage
        title="Devboxes"
        page={page}
        actions={create}
        filterBar={
          <FilterBar
            page={page}
            search={{ value: view.search, onFilter: (search) => narrow({ search }, 'type') }}
            metadata={{ keys: devboxQueries.metadataKeys() }}
          >
            <FilterSelect
              label="Status"
              value={view.status}
              words={devboxStatusWords}
              onFilter={(status) => narrow({ status }, 'push')}
            />
          </FilterBar>
        }
        columns={6}
        none={
          <EmptyState
            icon={Box}
            title="No devboxes yet"
            action={create}
            command={curlPost(serviceUrl, '/v1/devboxes', '{"name": "my-first-devbox"}')}
          >
            A devbox is an isolated machine with a disk and a shell, for an agent or for you. It runs commands and
            terminals, can be suspended and resumed, and ends by itself when its keep-alive time is over.
          </EmptyState>
        }
      >
        <DataTable
          {...page.table}
          caption="Devboxes, newest first"
          columns={columns}
          rowHref={({ id }) => paths.devbox(id)}
          rowActions={(devbox) => <DevboxRowActions devbox={devbox} moves={moves} />}
          rowClassName={({ status }) => (hasEnded(status) ? 'text-muted' : undefined)}
        />
      </ListPage>
      {moves.dialogs}
      <CreateDevboxDialog open={isCreating} onOpenChange={setIsCreating} />
    </>
  )
}

const byDevbox = ({ pending }: EvictionFeed): ReadonlyMap<string, Eviction> =>
  new Map(pending.map((eviction) => [eviction.devbox_id, eviction]))

const columnsFor = (query: DevboxListQuery, evictions: ReadonlyMap<string, Eviction>): Column<Devbox>[] => [
  nameColumn,
  {
    id: 'status',
    header: 'Status',
    priority: 2,
    width: 'clamp(10.75rem, 24vw, 15.5rem)',
    cell: ({ id, status }) => {
      const eviction = evictions.get(id)
      return (
        <span className="flex items-center gap-1.5">
          <DevboxStatusBadge status={status} />
          {eviction && <EvictionBadge eviction={eviction} brief />}
        </span>
      )
    },
  },
  idColumn,
  metadataColumn(query, paths.devboxes),
  timeColumn('Created', ({ create_time_ms }) => create_time_ms),
  {
    id: 'lifetime',
    header: 'Lifetime',
    priority: 3,
    align: 'right',
    width: '7rem',
    cell: (devbox) => <Lifetime devbox={devbox} />,
  },
]
