'use client'
import Link from 'next/link'
import type { Column } from '#components/list/column.ts'
import { idColumn } from '#components/list/columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCountOf, formatShown } from '#lib/browser/format.ts'
import {
  hasScenarioRunEnded,
  type ScenarioRun,
  type ScenarioRunList,
  type ScoringResult,
} from '#lib/contract/scenario-runs.ts'
import { unnamedScenario } from '#lib/protocol/outcome-ids.ts'
import { threeDecimals } from '#lib/protocol/report-words.ts'
import { durationOnceEnded, stateColumn, timeOrUnknown } from '../figures.tsx'

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

export const ScenarioRunTable = ({ list: { runs, has_more, total_count } }: { list: ScenarioRunList }) => {
  const attempts = attemptsOf(runs)
  if (runs.length === 0) return <p className="text-muted">No scenario runs yet.</p>
  return (
    <>
      <p role="status" className="tabular text-sm text-muted">
        {formatShown(runs.length, has_more, total_count)}
      </p>
      <DataTable
        caption="Scenario runs, newest first"
        columns={attempts.size > 0 ? [...columns.slice(0, 1), attemptColumn(attempts), ...columns.slice(1)] : columns}
        rows={runs}
        rowKey={({ id }) => id}
      />
    </>
  )
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

const attemptColumn = (attempts: ReadonlyMap<string, string>): Column<ScenarioRun> => ({
  id: 'attempt',
  header: () => (
    <span title="Numbered in the order they started; a retry replaces the attempt it repeats">Attempt</span>
  ),
  cell: ({ row }) => attempts.get(row.original.id) ?? '',
  meta: { priority: 3, width: '8rem' },
})

const rewardsText = ({ scoring_function_results }: ScoringResult): string | undefined =>
  scoring_function_results
    .map(({ scoring_function_name: name, score }) => `${name} ${threeDecimals(score)}`)
    .join(', ') || undefined

const columns: Column<ScenarioRun>[] = [
  {
    id: 'name',
    header: 'Scenario',
    cell: ({ row }) => {
      const { name, scenario_id } = row.original
      return (
        <Link href={paths.scenario(scenario_id)} prefetch={false} className="hover:underline">
          <VisibleText truncate>{name?.trim() || scenario_id.trim() || unnamedScenario}</VisibleText>
        </Link>
      )
    },
    meta: { priority: 1 },
  },
  stateColumn('scenario-run', '8.5rem'),
  {
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
    meta: { priority: 3, width: '6rem', align: 'right' },
  },
  idColumn(),
  {
    id: 'devbox',
    header: 'Devbox',
    cell: ({ row }) =>
      row.original.devbox_id && (
        <TextLink href={paths.devbox(row.original.devbox_id)} title={row.original.devbox_id} inRow>
          Open devbox
        </TextLink>
      ),
    meta: { priority: 3, width: '7rem' },
  },
  durationOnceEnded(({ state }) => hasScenarioRunEnded(state)),
  timeOrUnknown('start_time_ms', 'Started'),
]
