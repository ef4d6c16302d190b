'use client'
import { Layers } from 'lucide-react'
import { benchmarkQueries } from '#components/benchmarks/scenarios/queries.ts'
import type { Column } from '#components/list/column.ts'
import { idColumn, metadataColumn, nameColumn } from '#components/list/columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { FilterBar } from '#components/list/filter-bar.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import { useListQuery } from '#components/list/use-list-query.ts'
import { ListTools, ViewMenu } from '#components/list/view-menu.tsx'
import { ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount } from '#lib/browser/format.ts'
import { benchmarkMatches } from '#lib/browser/lists/row-filters.ts'
import type { Benchmark, BenchmarkListQuery } from '#lib/contract/benchmarks.ts'
import { BenchmarkState } from '../benchmark-state.tsx'
import { BenchmarkSearchParams, benchmarkQueryOf } from './search-params.ts'

const columnsFor = (query: Partial<BenchmarkSearchParams>): Column<Benchmark>[] => [
  nameColumn(),
  {
    accessorFn: ({ scenarioIds }) => scenarioIds.length,
    id: 'scenarios',
    header: 'Scenarios',
    cell: ({ row }) => formatCount(row.original.scenarioIds.length),
    meta: { priority: 2, width: '7rem', align: 'right' },
  },
  {
    id: 'runs',
    header: 'Runs',
    cell: ({ row }) => (
      <TextLink href={paths.benchmarkRuns({ benchmark_id: row.original.id })} inRow>
        Runs
      </TextLink>
    ),
    meta: { priority: 3, width: '7rem' },
  },
  {
    accessorKey: 'status',
    id: 'status',
    header: 'Status',
    cell: ({ row }) => <BenchmarkState of="definition" state={row.original.status} />,
    meta: { priority: 4, width: '7rem' },
  },
  {
    accessorKey: 'description',
    id: 'description',
    header: 'Description',
    cell: ({ row }) => row.original.description && <VisibleText truncate>{row.original.description}</VisibleText>,
    meta: { priority: 4 },
  },
  metadataColumn(query, paths.benchmarks),
  idColumn(),
]

const source = {
  noun: 'benchmark',
  nouns: 'benchmarks',
  params: BenchmarkSearchParams,
  path: paths.benchmarks,
  endpoint: 'benchmarks.list',
  columns: columnsFor({}),
  queryOf: benchmarkQueryOf,
  filters: { search: 'ID or name contains …', name: 'name contains …' },
  list: (query: BenchmarkListQuery) => benchmarkQueries.list(query),
  matches: benchmarkMatches,
}

export const BenchmarkListPage = () => {
  const list = useListQuery(source)
  return (
    <ListPage
      title="Benchmarks"
      list={list}
      tools={
        <ListTools>
          <ViewMenu list={list} />
        </ListTools>
      }
      filters={<FilterBar list={list} search="Search ID or name" metadata={benchmarkQueries.metadata} />}
      empty={
        <EmptyState
          icon={Layers}
          title="No benchmarks yet"
          action={<ButtonLink href={paths.scenarios()}>Scenarios</ButtonLink>}
        >
          A benchmark is a named set of scenarios that jobs and runs can share. Scripts create benchmarks with POST
          /v1/benchmarks.
        </EmptyState>
      }
    >
      <DataTable
        {...list.table}
        caption="Benchmarks"
        columns={columnsFor(list.params)}
        rowHref={({ id }) => paths.scenarios({ benchmark_id: id })}
        onNearEnd={list.onNearEnd}
      />
    </ListPage>
  )
}
