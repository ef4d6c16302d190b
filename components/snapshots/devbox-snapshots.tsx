'use client'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Camera } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { useDevbox } from '#components/devboxes/detail.tsx'
import { ListView } from '#components/list/list-page.tsx'
import { Button } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { pageDefaults } from '#lib/browser/address/search.ts'
import { snapshotMatches } from '#lib/browser/lists/row-filters.ts'
import { devboxRefusal } from '#lib/contract/devboxes.ts'
import { DevboxSnapshotTable } from './list.tsx'
import { snapshotQueries } from './queries.ts'

const SnapshotDialog = dynamic(async () => (await import('./snapshot-dialog.tsx')).SnapshotDialog)

export const DevboxSnapshots = () => {
  const { id, status } = useDevbox().devbox
  const [isTaking, setIsTaking] = useState(false)
  const params = { ...pageDefaults, devbox_id: id }
  const { rowsOf, ...options } = snapshotQueries.list(params)
  const query = useInfiniteQuery(options)
  const loaded = query.data?.pages.flatMap(rowsOf) ?? []
  const rows = loaded.filter(snapshotMatches(params))
  const take = (
    <Button
      icon={Camera}
      needs="snapshots.createAsync"
      disabledReason={devboxRefusal('snapshot', status)}
      onClick={() => setIsTaking(true)}
    >
      Take snapshot
    </Button>
  )
  return (
    <>
      <ListView
        list={{
          noun: 'snapshot',
          nouns: 'snapshots',
          query,
          rows,
          loaded,
          unmatched: loaded.length - rows.length,
        }}
        tools={<div className="ml-auto">{take}</div>}
        empty={
          <EmptyState icon={Camera} title="No snapshots of this devbox" action={take}>
            A snapshot is a copy of the disk from which you can create devboxes, even after this one has ended.
          </EmptyState>
        }
      >
        <DevboxSnapshotTable devboxId={id} rows={rows} busy={query.isPlaceholderData} />
      </ListView>
      {isTaking && <SnapshotDialog devboxId={id} onClose={() => setIsTaking(false)} />}
    </>
  )
}
