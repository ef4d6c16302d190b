'use client'
import { ListChecks } from 'lucide-react'
import { useMemo } from 'react'
import { FilterBar } from '#components/filters/filter-bar.tsx'
import { FilterSelect } from '#components/filters/filter-select.tsx'
import { durationColumn, metadataColumn, nameColumn, timeColumn } from '#components/list/columns.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import { useListPage } from '#components/list/use-list-page.ts'
import { ButtonLink } from '#components/ui/button.tsx'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { DataTable } from '#components/ui/data-table.tsx'
import type { Column } from '#components/ui/data-table-row.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { benchmarkRunQueries } from '#lib/console/queries/benchmark-runs.ts'
import { benchmarkQueries } from '#lib/console/queries/benchmarks.ts'
import type { benchmarkRunStates } from '#lib/contract/benchmark-run-states.ts'
import { type BenchmarkRun, type BenchmarkRunList, BenchmarkRunListQuery } from '#lib/contract/benchmark-runs.ts'
import { BenchmarkState } from './benchmark-state.tsx'
import { RunScore } from './run-score.tsx'

const source = {
  noun: 'run',
  nouns: 'runs',
  schema: BenchmarkRunListQuery,
  path: paths.benchmarkRuns,
  filters: {
    search: 'id or name contains …',
    name: 'name contains …',
    state: 'state is …',
    benchmark_id: 'benchmark is …',
  },
  pages: (query: BenchmarkRunListQuery) => benchmarkRunQueries.list(query),
  rowsOf: ({ runs }: BenchmarkRunList) => runs,
  isPolled: true,
}

export const RunList = () => {
  const page = useListPage(source)
  const { view, narrow } = page
  const columns = useMemo(() => columnsFor(view), [view])
  return (
    <ListPage
      title="Benchmark runs"
      page={page}
      filterBar={
        <FilterBar
          page={page}
          search={{ value: view.search, onFilter: (search) => narrow({ search }, 'type') }}
          metadata={{
            keys: benchmarkQueries.metadataKeys(),
            values: (key) => benchmarkQueries.metadataValues(key),
          }}
        >
          <FilterSelect
            label="State"
            value={view.state}
            words={stateWords}
            onFilter={(state) => narrow({ state }, 'push')}
          />
        </FilterBar>
      }
      columns={5}
      none={
        <EmptyState
          icon={ListChecks}
          title="No benchmark runs yet"
          action={<ButtonLink href={paths.benchmarkJobs()}>Benchmark jobs</ButtonLink>}
        >
          A run is one agent at the scenarios of a benchmark or of a job. Jobs make theirs; scripts start their own with
          POST /v1/benchmarks/start_run.
        </EmptyState>
      }
    >
      <DataTable
        {...page.table}
        caption="Benchmark runs, newest first"
        columns={columns}
        rowHref={({ id }) => paths.benchmarkRun(id)}
      />
    </ListPage>
  )
}

const stateWords: Record<(typeof benchmarkRunStates)[number], string> = {
  running: 'Running',
  canceled: 'Cancelled',
  completed: 'Completed',
  failed: 'Failed',
}

const columnsFor = (query: BenchmarkRunListQuery): Column<BenchmarkRun>[] => [
  nameColumn,
  {
    id: 'state',
    header: 'State',
    priority: 2,
    width: '8.5rem',
    cell: ({ state }) => <BenchmarkState of="run" state={state} />,
  },
  {
    id: 'score',
    header: 'Score',
    priority: 3,
    width: '14rem',
    cell: (run) => <RunScore run={run} />,
  },
  {
    id: 'benchmark',
    header: 'Benchmark',
    priority: 3,
    width: '11.5rem',
    cell: ({ benchmark_id }) => benchmark_id && <CopyableId value={benchmark_id} label="benchmark id" />,
  },
  metadataColumn(query, paths.benchmarkRuns),
  durationColumn,
  timeColumn('Started', ({ start_time_ms }) => start_time_ms),
]
