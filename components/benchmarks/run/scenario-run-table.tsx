'use client'
import { Search } from 'lucide-react'
import Link from 'next/link'
import { useMemo } from 'react'
import { type Column, exportColumns } from '#components/list/column.ts'
import { idColumn } from '#components/list/columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { FilterInput, FilterSelect } from '#components/list/filter-fields.tsx'
import { readSort, sortRows, writeSort } from '#components/list/sort-rows.ts'
import type { HowToChange } from '#components/list/use-address.ts'
import { Button } from '#components/ui/button.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatCountOf, formatShown } from '#lib/browser/format.ts'
import { saveRows } from '#lib/browser/lists/export.ts'
import type { ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import {
  hasScenarioRunEnded,
  type ScenarioRun,
  type ScenarioRunList,
  type ScoringResult,
} from '#lib/contract/scenario-runs.ts'
import { unnamedScenario } from '#lib/protocol/outcome-ids.ts'
import { threeDecimals } from '#lib/protocol/report-words.ts'
import { scenarioRunLooks, wordsOf } from '../benchmark-state.tsx'
import { durationOnceEnded, stateColumn, timeOrUnknown } from '../figures.tsx'
import type { RunView } from './search-params.ts'

/** The reward key that all scores come from, if there is one. */
export const metricOfRuns = (runs: readonly ScenarioRun[]): string | null => {
  const results = runs.flatMap(({ scoring_contract_result: result }) => result ?? [])
  const isJudged = (name: string) =>
    results.every(({ score, scoring_function_results }) =>
      scoring_function_results.some((each) => each.scoring_function_name === name && each.score === score),
    )
  return (
    results[0]?.scoring_function_results.find((each) => isJudged(each.scoring_function_name))?.scoring_function_name ??
    null
  )
}

/** Why scenario runs failed, by their id. Only jobs report it. */
export type Failures = ReadonlyMap<string, NonNullable<ScenarioOutcome['failure_reason']>>

interface ScenarioRunTableProps {
  list: ScenarioRunList
  failures: Failures
  view: RunView
  change: (part: Partial<RunView>, how: HowToChange) => void
}

export const ScenarioRunTable = ({ list, failures, view, change }: ScenarioRunTableProps) => {
  const { runs, has_more, total_count } = list
  const { search, state, score, failure, sort: sortText } = view
  const columns = useMemo(() => columnsOf(attemptsOf(runs), failures), [runs, failures])
  const matching = useMemo(
    () => matchingRuns(runs, failures, { search, state, score, failure }),
    [runs, failures, search, state, score, failure],
  )
  const sort = useMemo(() => readSort(sortText, columns), [sortText, columns])
  const rows = useMemo(() => (sort ? sortRows(matching, sort, columns) : matching), [matching, sort, columns])
  const types = useMemo(
    () => [...new Set([...failures.values()].map((each) => each.exception_type))].sort(),
    [failures],
  )
  if (runs.length === 0) return <p className="text-muted">No scenario runs yet.</p>
  const isFiltered = [search, state, score, failure].some((filter) => filter !== undefined)
  const loaded = formatShown(runs.length, has_more, total_count)
  return (
    <>
      <search className="flex flex-wrap items-center gap-2">
        <FilterInput
          data-filter-input
          icon={Search}
          type="search"
          label="Search scenario, ID or failure"
          className="w-full sm:w-72"
          value={search}
          onFilter={(text) => change({ search: text }, 'type')}
        />
        <FilterSelect
          label="State"
          any="Any state"
          value={state}
          words={wordsOf(scenarioRunLooks)}
          onFilter={(chosen) => change({ state: chosen }, 'push')}
        />
        <FilterSelect
          label="Score"
          any="Any score"
          value={score}
          words={scoreWords}
          onFilter={(chosen) => change({ score: chosen }, 'push')}
        />
        {(types.length > 0 || failure !== undefined) && (
          <FilterSelect
            label="Failure"
            any="Any failure"
            value={failure}
            words={Object.fromEntries([...types, ...(failure ? [failure] : [])].map((type) => [type, type]))}
            onFilter={(chosen) => change({ failure: chosen }, 'push')}
          />
        )}
      </search>
      <div className="flex flex-wrap items-center gap-x-3">
        <p role="status" className="tabular text-sm text-muted">
          {isFiltered ? `Showing ${formatCount(rows.length)} of ${formatCountOf(runs.length, 'scenario run')}` : loaded}
          {isFiltered && has_more && `; ${loaded.toLowerCase()}`}
        </p>
        {isFiltered && (
          <Button size="sm" onClick={() => change(noRunFilter, 'push')}>
            Clear filters
          </Button>
        )}
        <span className="ml-auto flex gap-1">
          {(['csv', 'json'] as const).map((format) => (
            <Button
              key={format}
              size="sm"
              variant="ghost"
              disabledReason={rows.length === 0 ? 'No scenario run matches' : null}
              onClick={() => saveRows('scenario-runs', format, rows, exportColumns(columns))}
            >
              {format.toUpperCase()}
            </Button>
          ))}
        </span>
      </div>
      {rows.length === 0 ? (
        <p className="py-6 text-center text-muted">No scenario run matches.</p>
      ) : (
        <DataTable
          caption="Scenario runs"
          order="newest first"
          columns={columns}
          rows={rows}
          rowKey={({ id }) => id}
          sort={sort}
          onSort={(next) => change({ sort: next ? writeSort(next) : undefined }, 'replace')}
        />
      )}
    </>
  )
}

const noRunFilter = { search: undefined, state: undefined, score: undefined, failure: undefined }

const scoreWords: Record<NonNullable<RunView['score']>, string> = {
  pass: 'Score 1 or more',
  partial: 'Other than 0, below 1',
  zero: 'Score 0',
  none: 'No score',
}

const scoreKind = ({ scoring_contract_result: result }: ScenarioRun): NonNullable<RunView['score']> =>
  result == null ? 'none' : result.score >= 1 ? 'pass' : result.score === 0 ? 'zero' : 'partial'

export const matchingRuns = (
  runs: readonly ScenarioRun[],
  failures: Failures,
  { search, state, score, failure }: Omit<RunView, 'sort'>,
): readonly ScenarioRun[] => {
  const wanted = search?.trim().toLowerCase()
  return runs.filter((run) => {
    const reason = failures.get(run.id)
    if (state !== undefined && run.state !== state) return false
    if (score !== undefined && scoreKind(run) !== score) return false
    if (failure !== undefined && reason?.exception_type !== failure) return false
    const texts = [run.name, run.id, run.scenario_id, reason?.exception_type, reason?.exception_message]
    return !wanted || texts.some((text) => text?.toLowerCase().includes(wanted))
  })
}

/** By id: "2 of 3, 1 retry" for runs that share a scenario. `runs` is sorted newest first. */
const attemptsOf = (runs: readonly ScenarioRun[]): ReadonlyMap<string, string> => {
  const byScenario = Map.groupBy(runs, ({ scenario_id, name }) => scenario_id.trim() || name?.trim())
  return new Map(
    [...byScenario.values()].flatMap((same) =>
      same.flatMap(({ id, n_retries }, at): [string, string][] => {
        const retries = n_retries ? [formatCountOf(n_retries, 'retry', 'retries')] : []
        const attempt = same.length > 1 || n_retries ? [`${same.length - at} of ${same.length}`] : []
        const words = [...attempt, ...retries]
        return words.length === 0 ? [] : [[id, words.join(', ')]]
      }),
    ),
  )
}

const rewardsText = ({ scoring_function_results }: ScoringResult): string | undefined =>
  scoring_function_results
    .map(({ scoring_function_name: name, score }) => `${name} ${threeDecimals(score)}`)
    .join(', ') || undefined

const columnsOf = (attempts: ReadonlyMap<string, string>, failures: Failures): Column<ScenarioRun>[] => [
  {
    accessorFn: ({ name, scenario_id }) => name?.trim() || scenario_id.trim() || unnamedScenario,
    id: 'name',
    header: 'Scenario',
    cell: ({ row, getValue }) => (
      <Link href={paths.scenario(row.original.scenario_id)} prefetch={false} className="hover:underline">
        <VisibleText truncate>{getValue()}</VisibleText>
      </Link>
    ),
    meta: { priority: 1, export: { name: ({ name }) => name, scenario_id: ({ scenario_id }) => scenario_id } },
  },
  ...(attempts.size === 0
    ? []
    : [
        {
          accessorFn: ({ id }: ScenarioRun) => attempts.get(id),
          id: 'attempt',
          header: 'Attempt',
          meta: {
            priority: 4,
            width: '8rem',
            title: 'Numbered in the order they started; a retry replaces the attempt it repeats',
          },
        } satisfies Column<ScenarioRun>,
      ]),
  stateColumn('scenario-run', '8.5rem'),
  {
    accessorFn: ({ scoring_contract_result: result }) => result?.score,
    id: 'score',
    header: 'Score',
    cell: ({ row }) =>
      row.original.scoring_contract_result ? (
        <span title={rewardsText(row.original.scoring_contract_result)}>
          {threeDecimals(row.original.scoring_contract_result.score)}
        </span>
      ) : (
        <span className="text-muted">None</span>
      ),
    meta: { priority: 2, width: '6rem', align: 'right' },
  },
  ...(failures.size === 0
    ? []
    : [
        {
          accessorFn: ({ id }: ScenarioRun) => failures.get(id)?.exception_type,
          id: 'failure',
          header: 'Failure',
          cell: ({ row }) => {
            const reason = failures.get(row.original.id)
            return (
              reason && (
                <span title={reason.exception_message.slice(0, 1000)}>
                  <VisibleText truncate>{`${reason.exception_type}: ${reason.exception_message}`}</VisibleText>
                </span>
              )
            )
          },
          meta: {
            priority: 3,
            minWidthRem: 14,
            export: {
              exception_type: ({ id }) => failures.get(id)?.exception_type,
              exception_message: ({ id }) => failures.get(id)?.exception_message,
            },
          },
        } satisfies Column<ScenarioRun>,
      ]),
  idColumn(),
  {
    accessorKey: 'devbox_id',
    id: 'devbox',
    header: 'Devbox',
    cell: ({ row }) =>
      row.original.devbox_id && (
        <TextLink href={paths.devbox(row.original.devbox_id)} title={row.original.devbox_id} inRow>
          Open devbox
        </TextLink>
      ),
    meta: { priority: 5, width: '7rem', export: { devbox_id: ({ devbox_id }) => devbox_id } },
  },
  durationOnceEnded(({ state }) => hasScenarioRunEnded(state)),
  timeOrUnknown('start_time_ms', 'Started'),
]
