'use client'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Camera } from 'lucide-react'
import { useState } from 'react'
import { useDevbox } from '#components/devboxes/detail.tsx'
import { ListView } from '#components/list/list-view.tsx'
import { Button } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { pageDefaults } from '#lib/browser/address/search.ts'
import { snapshotMatches } from '#lib/browser/lists/row-filters.ts'
import { devboxRefusal } from '#lib/contract/devboxes.ts'
import { snapshotQueries } from './queries.ts'
import { SnapshotTable } from './snapshot-table.tsx'

const SnapshotDialog = loadOnUse(async () => (await import('./snapshot-dialog.tsx')).SnapshotDialog)

export const DevboxSnapshots = () => {
  const { id, status } = useDevbox().devbox
  const [isTaking, setIsTaking] = useState(false)
  const query = { ...pageDefaults, devbox_id: id }
  const list = useInfiniteQuery(snapshotQueries.list(query))
  const loaded = list.data?.pages.flatMap((page) => page.snapshots) ?? []
  const snapshots = loaded.filter(snapshotMatches(query))
  const take = (
    <Button icon={Camera} disabledReason={devboxRefusal('snapshot', status)} onClick={() => setIsTaking(true)}>
      Take snapshot
    </Button>
  )
  return (
    <>
      <ListView
        noun="snapshot"
        nouns="snapshots"
        list={list}
        rows={snapshots}
        loaded={loaded}
        unmatched={loaded.length - snapshots.length}
        columns={4}
        filters={[]}
        clearHref={paths.devbox(id, 'snapshots')}
        tools={<div className="ml-auto">{take}</div>}
        none={
          <EmptyState icon={Camera} title="No snapshots of this devbox" action={take}>
            A snapshot is a copy of the disk from which you can create devboxes, even after this one has ended.
          </EmptyState>
        }
      >
        <SnapshotTable rows={snapshots} query={query} busy={list.isPlaceholderData} />
      </ListView>
      {isTaking && <SnapshotDialog devboxId={id} onClose={() => setIsTaking(false)} />}
    </>
  )
}
