'use client'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Plus, RotateCw, Waypoints } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { type ReactNode, useMemo, useState } from 'react'
import { ListView } from '#components/list/list-view.tsx'
import { Button } from '#components/ui/button.tsx'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { type Column, DataTable } from '#components/ui/data-table.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { Select } from '#components/ui/select.tsx'
import { formatCount } from '#lib/console/format.ts'
import { withCondition } from '#lib/console/metadata-condition.ts'
import { paths } from '#lib/console/paths.ts'
import { axonQueries } from '#lib/console/queries/axons.ts'
import type { Axon, AxonListQuery } from '#lib/contract/axons.ts'
import { AxonFilters, activeFilters } from './axon-filters.tsx'
import { AxonName } from './axon-name.tsx'
import { AxonState } from './axon-state.tsx'
import { CreateAxonDialog } from './create-axon-dialog.tsx'

export interface AxonListProps {
  query: AxonListQuery
  serviceUrl: string
}

export const AxonList = ({ query, serviceUrl }: AxonListProps) => {
  const [isCreating, setIsCreating] = useState(false)
  const list = useInfiniteQuery(axonQueries.list(query))
  const columns = useMemo(() => columnsFor(query), [query])
  const axons = useMemo(() => list.data?.pages.flatMap((page) => page.axons) ?? [], [list.data])
  const metadataKeys = useMemo(
    () => [...new Set(axons.flatMap(({ metadata }) => Object.keys(metadata)))].sort(),
    [axons],
  )
  const create = (
    <Button variant="primary" icon={Plus} onClick={() => setIsCreating(true)}>
      Create axon
    </Button>
  )
  return (
    <>
      <PageHeader title="Axons" actions={create} />
      <AxonFilters query={query} metadataKeys={metadataKeys} />
      <ListView
        noun="axon"
        nouns="axons"
        list={list}
        shown={axons.length}
        columns={5}
        filters={activeFilters(query)}
        clearHref={paths.axons({ limit: query.limit })}
        newestHref={query.starting_after && paths.axons({ ...query, starting_after: undefined })}
        none={<None create={create} serviceUrl={serviceUrl} />}
        tools={
          <div className="ml-auto flex items-center gap-1">
            <PageSize query={query} />
            <IconButton
              icon={RotateCw}
              label="Read again"
              busy={list.isRefetching}
              onClick={() => void list.refetch()}
            />
          </div>
        }
      >
        <DataTable
          caption="Axons, newest first"
          columns={columns}
          rows={axons}
          rowKey={({ id }) => id}
          rowHref={({ id }) => paths.axon(id)}
          rowClassName={({ deleted_at_ms }) => (deleted_at_ms == null ? undefined : 'text-muted')}
          busy={list.isPlaceholderData}
        />
      </ListView>
      <CreateAxonDialog open={isCreating} onOpenChange={setIsCreating} />
    </>
  )
}

const pageSizes = [20, 50, 100, 500]

const PageSize = ({ query }: { query: AxonListQuery }) => {
  const router = useRouter()
  const sizes = [...new Set([...pageSizes, query.limit])].sort((a, b) => a - b)
  return (
    <Select
      aria-label="Rows at a time"
      value={String(query.limit)}
      onChange={({ target }) => router.push(paths.axons({ ...query, limit: Number(target.value) }), { scroll: false })}
      options={sizes.map((size) => ({ value: String(size), label: `${formatCount(size)} rows` }))}
    />
  )
}

const columnsFor = (query: AxonListQuery): Column<Axon>[] => [
  { id: 'name', header: 'Name', priority: 1, cell: (axon) => <AxonName axon={axon} /> },
  { id: 'id', header: 'Id', priority: 3, width: '11.5rem', cell: ({ id }) => <CopyableId value={id} /> },
  { id: 'state', header: 'State', priority: 2, width: '11rem', cell: (axon) => <AxonState axon={axon} /> },
  {
    id: 'metadata',
    header: 'Metadata',
    priority: 3,
    cell: ({ metadata }) => (
      <MetadataChips
        max={3}
        metadata={metadata}
        hrefFor={(key, value) =>
          paths.axons({
            ...query,
            starting_after: undefined,
            metadata: withCondition(query.metadata, { key, op: 'eq', value }),
          })
        }
      />
    ),
  },
  {
    id: 'created',
    header: 'Created',
    align: 'right',
    priority: 3,
    width: '8rem',
    cell: ({ created_at_ms }) => <RelativeTime ms={created_at_ms} />,
  },
]

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
    An axon is a named record with metadata of your own. A deleted axon stays in the list with the time of its deletion.
  </EmptyState>
)
