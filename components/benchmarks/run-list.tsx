'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Ban, ListChecks } from 'lucide-react'
import { useCallback, useMemo, useState } from 'react'
import { benchmarkQueries } from '#components/benchmarks/scenarios/queries.ts'
import type { Column } from '#components/list/column.ts'
import { idColumn, metadataColumn, nameColumn, optional } from '#components/list/columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { FilterBar } from '#components/list/filter-bar.tsx'
import { FilterSelect } from '#components/list/filter-fields.tsx'
import { ListMenus } from '#components/list/list-menus.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import { useColumns } from '#components/list/use-columns.ts'
import { useListQuery } from '#components/list/use-list-query.ts'
import { ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { NameText, VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { runMatches } from '#lib/browser/lists/row-filters.ts'
import type { BenchmarkRun, BenchmarkRunListQuery } from '#lib/contract/benchmark-runs.ts'
import { runLooks, wordsOf } from './benchmark-state.tsx'
import { durationOnceEnded, stateColumn, timeOrUnknown } from './figures.tsx'
import { benchmarkRunMutations, benchmarkRunQueries, ownOrigin, type RunOrigin } from './run/queries.ts'
import { RunSearchParams, runQueryOf } from './run-search-params.ts'
import { AgentLines, RunScore } from './score.tsx'

const columnsFor = (
  params: RunSearchParams,
  hasOrigins: boolean,
  originOf: (run: BenchmarkRun) => RunOrigin | null,
): Column<BenchmarkRun>[] => [
  {
    ...nameColumn(),
    // Not truncated: the agent is at the end of the name.
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
    accessorFn: (run) => originOf(run)?.agent_name,
    id: 'agent',
    header: 'Agent',
    cell: ({ row: { original: run } }) => {
      const origin = originOf(run)
      return origin && <AgentLines name={origin.agent_name} model={origin.model_name} />
    },
    meta: {
      priority: 3,
      width: '9.5rem',
      isOptional: true,
      export: { agent_name: (run) => originOf(run)?.agent_name, model_name: (run) => originOf(run)?.model_name },
    },
  },
  {
    accessorFn: (run) => originOf(run)?.job_name,
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
    meta: {
      priority: 3,
      width: '10rem',
      export: { job_id: (run) => originOf(run)?.job_id, job_name: (run) => originOf(run)?.job_name },
    },
  },
  stateColumn('run', '9rem'),
  {
    accessorKey: 'score',
    id: 'score',
    header: 'Score',
    cell: ({ row: { original: run } }) =>
      hasOrigins && <RunScore run={run} outcomes={originOf(run)?.outcomes} isShort />,
    meta: {
      priority: 3,
      width: '8.5rem',
      align: 'right',
      export: {
        score: ({ score }) => score,
        n_scenario_runs: (run) => run.n_scenario_runs ?? originOf(run)?.outcomes,
      },
    },
  },
  metadataColumn(params, paths.benchmarkRuns),
  durationOnceEnded(({ state }) => state !== 'running'),
  timeOrUnknown('start_time_ms', 'Started'),
  optional(idColumn()),
]

/** Columns have the same values whatever the filters are. */
const defaultParams: RunSearchParams = { limit: 20, include_total_count: true }

const source = {
  noun: 'run',
  nouns: 'runs',
  params: RunSearchParams,
  path: paths.benchmarkRuns,
  endpoint: 'benchmarkRuns.list',
  queryOf: runQueryOf,
  list: (query: BenchmarkRunListQuery) => benchmarkRunQueries.list(query),
  matches: runMatches,
  filters: {
    search: 'ID or name contains …',
    name: 'name contains …',
    state: 'state is …',
    benchmark_id: 'benchmark is …',
  },
}

interface RunListProps {
  serviceUrl: string
  savedColumns: string
}

export const RunList = ({ serviceUrl, savedColumns }: RunListProps) => {
  const [needsOrigins, setNeedsOrigins] = useState(false)
  const { data: origins, isPending } = useQuery({ ...benchmarkRunQueries.origins(), enabled: needsOrigins })
  const originOf = useCallback((run: BenchmarkRun) => ownOrigin(run) ?? origins?.[run.id] ?? null, [origins])
  const list = useListQuery(
    source,
    useMemo(() => columnsFor(defaultParams, true, originOf), [originOf]),
  )
  const { params } = list
  // Some services report a run's origin only in its job.
  if (!needsOrigins && list.rows.some(({ n_scenario_runs }) => n_scenario_runs == null)) setNeedsOrigins(true)
  const columns = useColumns(
    useMemo(
      () => columnsFor(params, !needsOrigins || !isPending, originOf),
      [params, originOf, needsOrigins, isPending],
    ),
    list,
    'runColumns',
    savedColumns,
  )
  const cancel = useMutation(benchmarkRunMutations.cancel())
  return (
    <ListPage
      title="Benchmark runs"
      list={list}
      bulk={[
        {
          icon: Ban,
          verb: 'Cancel',
          needs: 'benchmarkRuns.cancel',
          done: 'Canceled',
          failed: "Couldn't cancel every run",
          consequence: (count) =>
            `Stops ${count}: running scenarios are canceled and their devboxes shut down. Finished scenarios keep their scores. This can't be undone.`,
          isDestructive: true,
          isEligible: ({ state }) => state === 'running',
          act: ({ id }) => cancel.mutateAsync(id),
        },
      ]}
      filters={
        <FilterBar list={list} search="Search ID or name" metadata={benchmarkQueries.metadata}>
          <FilterSelect
            label="State"
            any="Any state"
            value={params.state}
            words={wordsOf(runLooks)}
            onFilter={(state) => list.filter({ state }, 'push')}
          />
        </FilterBar>
      }
      tools={
        <ListMenus
          source={source}
          list={list}
          columns={columns}
          call={{ path: '/v1/benchmark_runs', method: 'benchmarkRuns.list' }}
          metadataKeys={benchmarkQueries.metadata.keys}
          serviceUrl={serviceUrl}
        />
      }
      empty={
        <EmptyState
          icon={ListChecks}
          title="No benchmark runs yet"
          action={<ButtonLink href={paths.benchmarkJobs()}>Benchmark jobs</ButtonLink>}
        >
          A run is one agent on the scenarios of a benchmark or job. Jobs create runs; scripts start them with POST
          /v1/benchmarks/start_run.
        </EmptyState>
      }
    >
      <DataTable
        {...list.table}
        caption="Benchmark runs"
        columns={columns.shown}
        onResize={columns.resize}
        rowHref={({ id }) => paths.benchmarkRun(id)}
        selection={{ ...list.selection, labelOf }}
        onNearEnd={list.onNearEnd}
      />
    </ListPage>
  )
}

const labelOf = ({ id, name }: BenchmarkRun) => `Select ${name || id}`
