'use client'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Camera, ListFilter } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { ActiveFilters } from '#components/filters/active-filters.tsx'
import { MetadataFilterForm } from '#components/filters/metadata-filter-form.tsx'
import { ListView } from '#components/list/list-view.tsx'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { conditionText, withCondition, withoutCondition } from '#lib/console/lists/metadata-condition.ts'
import { snapshotQueries } from '#lib/console/queries/snapshots.ts'
import type { SnapshotListQuery } from '#lib/contract/snapshots.ts'
import { SnapshotTable } from './snapshot-table.tsx'

export const SnapshotList = ({ query, serviceUrl }: { query: SnapshotListQuery; serviceUrl: string }) => {
  const router = useRouter()
  const [isAdding, setIsAdding] = useState(false)
  const list = useInfiniteQuery(snapshotQueries.list(query))
  const { data: known } = useQuery({ ...snapshotQueries.metadataKeys(), enabled: isAdding })
  const snapshots = list.data?.pages.flatMap((page) => page.snapshots) ?? []
  const filters = activeFilters(query)
  return (
    <>
      <PageHeader title="Snapshots" />
      <search className="mb-3 space-y-2">
        <Button icon={ListFilter} aria-expanded={isAdding} onClick={() => setIsAdding(!isAdding)}>
          Metadata
        </Button>
        {isAdding && (
          <MetadataFilterForm
            keySuggestions={known?.keys}
            onAdd={(condition) => {
              router.push(
                paths.snapshots({
                  ...query,
                  starting_after: undefined,
                  metadata: withCondition(query.metadata, condition),
                }),
                { scroll: false },
              )
              setIsAdding(false)
            }}
          />
        )}
        <ActiveFilters filters={filters} clearHref={paths.snapshots({ limit: query.limit })} />
      </search>
      <ListView
        noun="snapshot"
        nouns="snapshots"
        list={list}
        shown={snapshots.length}
        columns={5}
        filters={filters}
        clearHref={paths.snapshots({ limit: query.limit })}
        newestHref={query.starting_after && paths.snapshots({ ...query, starting_after: undefined })}
        none={
          <EmptyState
            icon={Camera}
            title="No snapshots yet"
            action={<ButtonLink href={paths.devboxes()}>All devboxes</ButtonLink>}
            command={`curl ${serviceUrl}/v1/devboxes/DEVBOX_ID/snapshot_disk \\
  -H "Authorization: Bearer $DEVDECK_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"name": "after-setup"}'`}
          >
            A snapshot is a copy of a devbox's disk, taken on its page. New devboxes can be created from it.
          </EmptyState>
        }
      >
        <SnapshotTable snapshots={snapshots} query={query} busy={list.isPlaceholderData} />
      </ListView>
    </>
  )
}

/** Each filter in words, with the address of the list without it. */
const activeFilters = (query: SnapshotListQuery) => {
  const without = (part: Partial<SnapshotListQuery>) =>
    paths.snapshots({ ...query, starting_after: undefined, ...part })
  const { devbox_id, source_blueprint_id, metadata = [] } = query
  return [
    ...(devbox_id ? [{ text: `devbox is ${devbox_id}`, hrefWithout: without({ devbox_id: undefined }) }] : []),
    ...(source_blueprint_id
      ? [{ text: `blueprint is ${source_blueprint_id}`, hrefWithout: without({ source_blueprint_id: undefined }) }]
      : []),
    ...metadata.map((condition) => ({
      text: conditionText(condition),
      hrefWithout: without({ metadata: withoutCondition(metadata, condition) }),
    })),
  ]
}
