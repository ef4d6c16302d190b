'use client'
import { useQuery } from '@tanstack/react-query'
import { ListChecks } from 'lucide-react'
import { useCallback, useMemo } from 'react'
import type * as z from 'zod/mini'
import { FilterBar } from '#components/filters/filter-bar.tsx'
import { FilterSelect } from '#components/filters/filter-select.tsx'
import { chosenColumns } from '#components/list/chosen-columns.tsx'
import type { Column } from '#components/list/column.ts'
import { idColumn, metadataColumn, nameColumn } from '#components/list/columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { ListMenus } from '#components/list/list-menus.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import { type DrawnColumns, useColumns } from '#components/list/use-columns.ts'
import { useListPage } from '#components/list/use-list-page.ts'
import { ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { NameText, VisibleText } from '#components/ui/visible-text.tsx'
import { runColumns } from '#lib/browser/address/columns/run-columns.ts'
import { withColumns, withoutColumns } from '#lib/browser/address/list-columns.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { runMatches } from '#lib/browser/lists/row-filters.ts'
import { benchmarkQueries } from '#lib/browser/queries/benchmarks.ts'
import type { Shown } from '#lib/browser/queries/list/pages.ts'
import type { benchmarkRunStates } from '#lib/contract/benchmark-runs.ts'
import { type BenchmarkRun, type BenchmarkRunList, BenchmarkRunListQuery } from '#lib/contract/benchmark-runs.ts'
import { BenchmarkState } from './benchmark-state.tsx'
import { benchmarkRunQueries, ownOrigin, type RunOrigin } from './run/queries.ts'
import { RunScore } from './run/run-score.tsx'
import { AgentLines } from './score.tsx'
import { durationOnceEnded, timeOrUnknown } from './unknown-times.tsx'

const RunSelection = loadOnUse(async () => (await import('./run-selection.tsx')).RunSelection)

const RunListView = withColumns(BenchmarkRunListQuery)
type RunListView = z.output<typeof RunListView>

const source = {
  noun: 'run',
  nouns: 'runs',
  schema: RunListView,
  path: paths.benchmarkRuns,
  filters: {
    search: 'id or name contains …',
    name: 'name contains …',
    state: 'state is …',
    benchmark_id: 'benchmark is …',
  },
  pages: (view: RunListView) => benchmarkRunQueries.list(withoutColumns(view)),
  refresh: (view: RunListView, shown: () => Shown<BenchmarkRun>) =>
    benchmarkRunQueries.refresh(withoutColumns(view), shown),
  rowsOf: ({ runs }: BenchmarkRunList) => runs,
  matches: (view: RunListView) => runMatches(withoutColumns(view)),
} as const

interface RunListProps {
  serviceUrl: string
  drawnColumns: DrawnColumns
}

export const RunList = ({ serviceUrl, drawnColumns }: RunListProps) => {
  const page = useListPage(source)
  const { view, narrow, selectedRows } = page
  const isAsked = page.rows.some(({ n_scenario_runs }) => n_scenario_runs == null)
  const { data: origins, isPending } = useQuery({ ...benchmarkRunQueries.origins(), enabled: isAsked })
  const columns = useColumns(runColumns, page, drawnColumns)
  const originOf = useCallback((run: BenchmarkRun) => ownOrigin(run) ?? origins?.[run.id] ?? null, [origins])
  const shownColumns = useMemo(
    () => chosenColumns(columns.choices, runColumns, columnsFor(view, !isAsked || !isPending, originOf)),
    [columns.choices, view, originOf, isAsked, isPending],
  )
  const fields = async () => (await import('./export/run-fields.ts')).runFields(originOf)
  return (
    <>
      <ListPage
        title="Benchmark runs"
        page={page}
        filterBar={
          <FilterBar
            page={page}
            search="Search id or name"
            metadata={{
              keys: benchmarkQueries.metadataKeys(),
              values: (key) => benchmarkQueries.metadataValues(key),
            }}
          >
            <FilterSelect
              label="State"
              any="Any state"
              value={view.state}
              words={stateWords}
              onFilter={(state) => narrow({ state }, 'push')}
            />
          </FilterBar>
        }
        columns={5}
        tools={
          <ListMenus
            source={source}
            page={page}
            columns={columns}
            metadataKeys={benchmarkQueries.metadataKeys()}
            fields={fields}
            serviceUrl={serviceUrl}
          />
        }
        none={
          <EmptyState
            icon={ListChecks}
            title="No benchmark runs yet"
            action={<ButtonLink href={paths.benchmarkJobs()}>Benchmark jobs</ButtonLink>}
          >
            {
              'A run is one agent at the scenarios of a benchmark or of a job. Jobs make theirs; scripts start their own with POST /v1/benchmarks/start_run.'
            }
          </EmptyState>
        }
      >
        <DataTable
          {...page.table}
          caption="Benchmark runs, newest first"
          columns={shownColumns}
          onResize={columns.onResize}
          rowHref={({ id }) => paths.benchmarkRun(id)}
          selection={{ ...page.selection, labelOf }}
          onNearEnd={page.onNearEnd}
        />
      </ListPage>
      {selectedRows.length > 0 && <RunSelection runs={selectedRows} onClear={() => page.setSelected([])} />}
    </>
  )
}

const labelOf = ({ id, name }: BenchmarkRun) => `Select ${name || id}`

const stateWords: Record<(typeof benchmarkRunStates)[number], string> = {
  running: 'Running',
  canceled: 'Cancelled',
  completed: 'Completed',
  failed: 'Failed',
}

const columnsFor = (
  query: BenchmarkRunListQuery,
  /** What was asked for of where runs come from has come, or is not needed. */
  isKnown: boolean,
  originOf: (run: BenchmarkRun) => RunOrigin | null,
): Column<BenchmarkRun>[] => [
  {
    ...nameColumn(),
    // The end of a name tells the agent: it takes the lines it needs.
    cell: ({ row }) =>
      row.original.name ? (
        <VisibleText max={160} className="leading-4">
          {row.original.name}
        </VisibleText>
      ) : (
        <NameText>{row.original.name}</NameText>
      ),
    meta: { priority: 1, lines: () => 2 },
  },
  {
    id: 'agent',
    header: 'Agent',
    cell: ({ row: { original: run } }) => {
      const origin = originOf(run)
      return origin && <AgentLines name={origin.agent_name} model={origin.model_name} />
    },
    meta: { priority: 3, width: '9.5rem' },
  },
  {
    id: 'job',
    header: 'Job',
    cell: ({ row: { original: run } }) => {
      const origin = originOf(run)
      return (
        origin && (
          <TextLink href={paths.benchmarkJob(origin.job_id)} inRow>
            <VisibleText truncate>{origin.job_name}</VisibleText>
          </TextLink>
        )
      )
    },
    meta: { priority: 3, width: '10rem' },
  },
  {
    id: 'state',
    header: 'State',
    cell: ({ row }) => <BenchmarkState of="run" state={row.original.state} />,
    meta: { priority: 2, width: '9rem' },
  },
  {
    id: 'score',
    header: 'Score',
    cell: ({ row: { original: run } }) => isKnown && <RunScore run={run} outcomes={originOf(run)?.outcomes} isShort />,
    meta: { priority: 3, width: '8.5rem', align: 'right' },
  },
  metadataColumn(query, paths.benchmarkRuns),
  durationOnceEnded(({ state }) => state !== 'running'),
  timeOrUnknown('Started', ({ start_time_ms }) => start_time_ms),
  idColumn(),
]
