import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/browser/format.ts'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { flakyScenarios } from '#lib/statistics/flaky.ts'
import { inNameOrder } from '#lib/statistics/tallies.ts'
import { attemptsDisagree, type GridCell, type ScenarioRow } from '../grid/scenario-grid.ts'
import type { AgentRow } from '../job-figures.ts'
import { type Suspicion, suspicions } from './search-params.ts'

const reasons: Record<Suspicion, string> = {
  nop_passes: 'doing nothing passes, so the verifier checks too little',
  oracle_fails: 'its own solution fails',
  all_fail: 'no agent scores above 0: too hard or broken',
  flaky: 'a control both passes and fails, or more agents do than their pass rates explain (Holm-adjusted p < 0.05)',
  at_timeout: 'an attempt timed out or used 90% of its limit',
  all_pass: 'does not distinguish agents',
}

const namesShown = 12

interface SuspiciousListProps {
  found: Record<Suspicion, readonly ScenarioRow[]>
  rows: readonly ScenarioRow[]
  hasThreshold: boolean
  onSearch: (row: ScenarioRow) => void
  onShowAll: (suspicion: Suspicion) => void
}

export const SuspiciousList = ({ found, rows, hasThreshold, onSearch, onShowAll }: SuspiciousListProps) => {
  const total = rows.length
  const mixed = rows.filter(({ cells }) => cells.some(attemptsDisagree)).length
  const kinds = suspicions.filter((kind) => found[kind].length > 0)
  if (total === 0) return null
  return (
    <section aria-label="Suspicious scenarios" className="space-y-2">
      <h2 className="text-lg font-medium">Suspicious scenarios</h2>
      {!hasThreshold && (
        <p className="text-sm text-muted">Scores are outside 0 to 1. Set a pass threshold to check passes.</p>
      )}
      {kinds.length === 0 && hasThreshold && (
        <p className="text-sm text-muted">None of {formatCount(total)} scenarios.</p>
      )}
      <dl className="grid grid-cols-1 gap-x-8 gap-y-3 lg:grid-cols-2">
        {kinds.map((kind) => (
          <div key={kind} className="min-w-0 border-l-2 border-line pl-3">
            <dt>
              <button
                type="button"
                title="Show in grid"
                className="min-h-6 font-medium hover:underline"
                onClick={() => onShowAll(kind)}
              >
                {suspicionTitles[kind]}
              </button>{' '}
              <span className="tabular text-muted">
                {formatCount(found[kind].length)} of {formatCount(total)}; {reasons[kind]}
              </span>
            </dt>
            <dd className="flex flex-wrap gap-x-3">
              {found[kind].slice(0, namesShown).map((row) => (
                <button
                  key={row.id}
                  type="button"
                  className="min-h-6 max-w-full text-left text-accent hover:underline"
                  onClick={() => onSearch(row)}
                >
                  <VisibleText truncate max={60}>
                    {row.name}
                  </VisibleText>
                  {kind === 'flaky' && <span className="tabular text-muted"> {passCounts(row)}</span>}
                </button>
              ))}
              {found[kind].length > namesShown && (
                <button type="button" className="min-h-6 text-accent hover:underline" onClick={() => onShowAll(kind)}>
                  and {formatCount(found[kind].length - namesShown)} more
                </button>
              )}
            </dd>
          </div>
        ))}
      </dl>
      {mixed > 0 && (
        <p className="text-sm text-muted">
          An agent both passes and fails in {formatCount(mixed)} of {formatCount(total)} scenarios;{' '}
          {found.flaky.length === 0 ? 'chance explains this' : `${formatCount(found.flaky.length)} are flaky`}.
        </p>
      )}
    </section>
  )
}

export const suspicionTitles: Record<Suspicion, string> = {
  nop_passes: 'Passed by nop',
  oracle_fails: 'Failed by oracle',
  all_fail: 'Failed by all',
  flaky: 'Flaky',
  at_timeout: 'At the time limit',
  all_pass: 'Passed by all',
}

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
