import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { flakyScenarios } from '#lib/statistics/flaky.ts'
import { inNameOrder } from '#lib/statistics/tallies.ts'
import { attemptsDisagree, type GridCell, type ScenarioRow } from '../grid/scenario-grid.ts'
import type { AgentRow } from '../job-figures.ts'
import type { Suspicion } from './search-params.ts'

export const suspicionTitles: Record<Suspicion, string> = {
  nop_passes: 'Passed by nop',
  oracle_fails: 'Failed by oracle',
  all_fail: 'Failed by all',
  flaky: 'Flaky',
  at_timeout: 'At the time limit',
  all_pass: 'Passed by all',
}

/** Scenarios whose results suggest a problem with the scenario itself. */
export const suspiciousScenarios = (
  rows: readonly ScenarioRow[],
  agents: readonly AgentRow[],
  spec: BenchmarkJob['job_spec'],
): Record<Suspicion, ScenarioRow[]> => {
  const limits = agents.map((agent) => limitOf(agent, spec))
  const named = (name: string) => agents.flatMap((agent, at) => (agent.name === name ? [at] : []))
  const [nops, oracles] = [named('nop'), named('oracle')]
  // An agent that completed nothing, for example with a rejected key, says nothing about the scenarios.
  const hasCompleted = agents.map((_, at) => rows.some(({ cells }) => cells[at]?.attempts.some(isCompleted)))
  const judged = (at: number) => hasCompleted[at] === true && !nops.includes(at) && !oracles.includes(at)
  const inOrder = rows.toSorted((a, b) => inNameOrder(a.name, b.name))
  const found = (test: (row: ScenarioRow) => boolean) => inOrder.filter(test)
  return {
    nop_passes: found(({ cells }) => nops.some((at) => (cells[at]?.repeats.passed ?? 0) > 0)),
    oracle_fails: found(({ cells }) =>
      oracles.some((at) => cells[at] && cells[at].attempts.length > 0 && fails(cells[at])),
    ),
    all_fail: found((row) => agree(row, judged, (cell) => cell.score.zero === 0 && cell.passes.zero === false)),
    flaky: flakyOf(rows, agents),
    at_timeout: found((row) => isAtTimeout(row, limits)),
    all_pass: found((row) => agree(row, judged, (cell) => cell.passes.zero === true)),
  }
}

const fails = ({ passes, score }: GridCell): boolean => passes.zero === false || score.zero === null

const isCompleted = ({ state }: { state: string }) => state === 'COMPLETED'

/** `3 of 6 pass`, over the agents that both pass and fail. */
export const passCounts = ({ cells }: ScenarioRow): string => {
  const { n, passed } = sumOf(cells)
  return `${passed} of ${n} pass`
}

const flakyOf = (rows: readonly ScenarioRow[], agents: readonly AgentRow[]): ScenarioRow[] => {
  const isFlaky = flakyScenarios(
    agents.map(({ name }) => name),
    rows.map(({ cells }) => cells.map(({ repeats }) => repeats)),
  )
  const imbalance = ({ cells }: ScenarioRow) => {
    const { n, passed } = sumOf(cells)
    return Math.abs(passed / n - 0.5)
  }
  return rows.filter((_, at) => isFlaky[at]).sort((a, b) => imbalance(a) - imbalance(b) || inNameOrder(a.name, b.name))
}

const sumOf = (cells: ScenarioRow['cells']) =>
  cells
    .filter(attemptsDisagree)
    .map(({ repeats }) => repeats)
    .reduce((sum, { n, passed }) => ({ n: sum.n + n, passed: sum.passed + passed }), { n: 0, passed: 0 })

const agree = (
  { cells }: ScenarioRow,
  isJudged: (at: number) => boolean,
  test: (cell: GridCell) => boolean,
): boolean => {
  const tried = cells.filter(({ attempts }, at) => isJudged(at) && attempts.length > 0)
  return tried.length > 1 && tried.every(test)
}

/** Part of the time limit that counts as near it. */
const nearPart = 0.9

const isAtTimeout = ({ cells }: ScenarioRow, limits: readonly (number | null)[]): boolean => {
  // Without a specified limit, a timed-out attempt reveals it.
  const stopped = Math.min(
    ...cells.flatMap(({ attempts }) =>
      attempts.flatMap(({ state, duration_ms }) => (state === 'TIMEOUT' && duration_ms != null ? [duration_ms] : [])),
    ),
  )
  return cells.some(({ attempts }, at) =>
    attempts.some(
      ({ state, duration_ms }) =>
        state === 'TIMEOUT' || (duration_ms != null && duration_ms >= nearPart * (limits[at] ?? stopped)),
    ),
  )
}

const limitOf = ({ name, model }: AgentRow, spec: BenchmarkJob['job_spec']): number | null => {
  const agent = spec?.agent_configs.find((each) => each.name === name && (each.model_name ?? null) === model)
  const seconds = agent?.timeout_seconds
  return seconds == null ? null : seconds * 1000 * (spec?.orchestrator_config?.timeout_multiplier ?? 1)
}
