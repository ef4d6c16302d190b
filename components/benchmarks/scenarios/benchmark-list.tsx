'use client'
import { Layers } from 'lucide-react'
import { FilterBar } from '#components/filters/filter-bar.tsx'
import type { Column } from '#components/list/column.ts'
import { idColumn, metadataColumn, nameColumn } from '#components/list/columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import { useListPage } from '#components/list/use-list-page.ts'
import { ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount } from '#lib/browser/format.ts'
import { benchmarkMatches } from '#lib/browser/lists/row-filters.ts'
import { benchmarkDefinitionQueries } from '#lib/browser/queries/benchmark-definitions.ts'
import { benchmarkQueries } from '#lib/browser/queries/benchmarks.ts'
import { type Benchmark, type BenchmarkList, BenchmarkListQuery } from '#lib/contract/benchmarks.ts'
import { DefinitionState } from './definition-state.tsx'

const source = {
  noun: 'benchmark',
  nouns: 'benchmarks',
  schema: BenchmarkListQuery,
  path: paths.benchmarks,
  filters: { search: 'id or name contains …', name: 'name contains …' },
  pages: (query: BenchmarkListQuery) => benchmarkDefinitionQueries.list(query),
  rowsOf: ({ benchmarks }: BenchmarkList) => benchmarks,
  matches: benchmarkMatches,
} as const

export const BenchmarkListPage = () => {
  const page = useListPage(source)
  const { view } = page
  return (
    <ListPage
      title="Benchmarks"
      page={page}
      filterBar={
        <FilterBar
          page={page}
          search="Search id or name"
          metadata={{ keys: benchmarkQueries.metadataKeys(), values: (key) => benchmarkQueries.metadataValues(key) }}
        />
      }
      columns={6}
      none={
        <EmptyState
          icon={Layers}
          title="No benchmarks yet"
          action={<ButtonLink href={paths.scenarios()}>Scenarios</ButtonLink>}
        >
          {
            'A benchmark is a set of scenarios with a name, so that jobs and runs can be of the same ones again. Scripts create them with POST /v1/benchmarks.'
          }
        </EmptyState>
      }
    >
      <DataTable
        {...page.table}
        caption="Benchmarks, newest first"
        columns={columnsFor(view)}
        rowHref={({ id }) => paths.scenarios({ benchmark_id: id })}
      />
    </ListPage>
  )
}

const columnsFor = (query: BenchmarkListQuery): Column<Benchmark>[] => [
  nameColumn(),
  {
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
        Its runs
      </TextLink>
    ),
    meta: { priority: 3, width: '7rem' },
  },
  {
    id: 'status',
    header: 'Status',
    cell: ({ row }) => <DefinitionState status={row.original.status} />,
    meta: { priority: 4, width: '7rem' },
  },
  {
    id: 'description',
    header: 'Description',
    cell: ({ row }) => row.original.description && <VisibleText truncate>{row.original.description}</VisibleText>,
    meta: { priority: 4 },
  },
  metadataColumn(query, paths.benchmarks),
  idColumn(),
]
