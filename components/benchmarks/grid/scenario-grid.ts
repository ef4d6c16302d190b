import type { KnownScenario } from '#lib/client/scenario-definitions.ts'
import type { BenchmarkJob, ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import { failureOf, withoutControls } from '#lib/protocol/failure-groups.ts'
import { unnamedScenario } from '#lib/protocol/outcome-ids.ts'
import type { FailureRule, ReportChoice } from '#lib/protocol/reports.ts'
import type { ScoreScale } from '#lib/statistics/figures.ts'
import type { Repeats } from '#lib/statistics/flaky.ts'
import { meanOf } from '#lib/statistics/means.ts'
import { type CountingRule, countingRule, defaultDirection } from '#lib/statistics/metrics.ts'
import { passes, scaleOf, countedScore as scoreThatCounts } from '#lib/statistics/tallies.ts'
import type { AgentRow } from '../job-figures.ts'
import type { AttemptMarks } from '../marks/attempt-marks.ts'

export interface GridCell {
  attempts: readonly ScenarioOutcome[]
  /** Mean by failure rule; null if no attempt counts. */
  score: Record<FailureRule, number | null>
  passes: Record<FailureRule, boolean | null>
  repeats: Repeats
  /** Common state of the attempts, `MIXED` if they differ, null without attempts. */
  state: string | null
  duration_ms: number | null
  /** All attempts are excluded. Their score is shown, but counts nowhere. */
  isExcluded: boolean
}

export interface ScenarioRow {
  id: string
  name: string
  /** Name prefix shared with another scenario. */
  group: string
  metadata: Readonly<Record<string, string>> | null
  cells: readonly GridCell[]
  /** Highest minus lowest score, without controls; null for fewer than two. */
  spread: Record<FailureRule, number | null>
  /** Mean over agents with a score, without controls. */
  mean: Record<FailureRule, number | null>
  /** Agents whose attempts differ, without controls. */
  n_disagreeing: number
  duration_ms: number | null
}

export const attemptsDisagree = ({ repeats: { n, passed } }: GridCell): boolean => passed > 0 && passed < n

export const environmentDiffers = ({ attempts }: GridCell): boolean =>
  attempts.some(({ environment_differs }) => environment_differs)

export type AttemptFilter = (outcome: ScenarioOutcome, agent: number) => boolean

/** Accepts the attempts of a failure group. */
export const failureFilter = (agents: readonly AgentRow[], key: string, scale: GridScale): AttemptFilter => {
  const counted = new Set(withoutControls(agents, ({ name }) => name))
  return (outcome, at) => counted.has(agents[at] as AgentRow) && failureOf(outcome, scale)?.key === key
}

const noMarks: AttemptMarks = new Map()

export const countedScore = (outcome: ScenarioOutcome, rule: CountingRule): number | null =>
  scoreThatCounts(outcome, rule) ?? null

/** Explains how an attempt counts in the mean if that differs from its score. */
export const countedNote = (outcome: Pick<ScenarioOutcome, 'state' | 'score' | 'failure_reason'>): string => {
  if (scoreThatCounts(outcome, 'leave_out') !== undefined) return ''
  const score = scoreThatCounts(outcome, 'zero')
  if (score === 0) return '; counts as 0, or is excluded with failures'
  if (score !== undefined) return '; excluded with failures because it timed out'
  return outcome.state === 'CANCELED'
    ? '; not counted because it was canceled'
    : '; not counted because its state is unknown'
}

export interface GridScale extends ScoreScale {
  low: number
  high: number
  metric: string | undefined
  counting: Record<FailureRule, CountingRule>
}

export type ScaleChoice = Pick<ReportChoice, 'metric' | 'direction' | 'threshold'>

export const gridScale = (
  agents: readonly AgentRow[],
  { metric, direction = defaultDirection(metric), threshold }: ScaleChoice,
): GridScale => {
  const outcomes = agents.flatMap(({ outcome }) => outcome?.scenario_outcomes ?? [])
  const counting = {
    zero: countingRule('zero', metric, direction),
    leave_out: countingRule('leave_out', metric, direction),
  }
  const scale = { ...scaleOf([{ outcomes }], { metric, direction, threshold }), metric, counting }
  if (scale.is_unit_range) return { ...scale, low: 0, high: 1 }
  const ends = countedOf(outcomes, counting.zero)
  const low = ends.reduce((least, each) => Math.min(least, each), 0)
  return { ...scale, low, high: ends.reduce((most, each) => Math.max(most, each), low) }
}

export type KnownScenarios = Readonly<Record<string, KnownScenario>>

/** Scenarios in the specification's order, then any others found in outcomes. */
export const scenarioRows = (
  job: BenchmarkJob,
  agents: readonly AgentRow[],
  known: KnownScenarios = {},
  choice: ScaleChoice = {},
  marks: AttemptMarks = noMarks,
): ScenarioRow[] => {
  const scale = gridScale(agents, choice)
  const counted = new Set(withoutControls(agents, ({ name }) => name))
  const found = new Map<string, { name: string; attempts: ScenarioOutcome[][] }>()
  const rowOf = (given: string) => {
    const id = given.trim() ? given : unnamedScenario
    const known = found.get(id)
    if (known) return known
    const row = { name: '', attempts: agents.map(() => []) }
    found.set(id, row)
    return row
  }
  for (const id of job.job_spec?.scenario_ids ?? []) rowOf(id)
  for (const [at, { outcome }] of agents.entries())
    for (const each of outcome?.scenario_outcomes ?? []) {
      const row = rowOf(each.scenario_definition_id)
      row.name ||= each.scenario_name.trim() && each.scenario_name
      row.attempts[at]?.push(each)
    }
  for (const [id, row] of found) row.name ||= known[id]?.name ?? ''
  const groups = groupsOf([...found.values()].map(({ name }) => name))
  return [...found].map(([id, { name, attempts }]): ScenarioRow => {
    const cells = attempts.map((each) => cellOf(each, scale, marks))
    const judged = cells.filter(({ isExcluded }, at) => !isExcluded && counted.has(agents[at] as AgentRow))
    return {
      id,
      name: name || id,
      group: groups.get(name) ?? otherGroup,
      metadata: known[id]?.metadata ?? null,
      cells,
      spread: { zero: spreadOf(judged, 'zero'), leave_out: spreadOf(judged, 'leave_out') },
      mean: { zero: meanOf(scoresOf(judged, 'zero')), leave_out: meanOf(scoresOf(judged, 'leave_out')) },
      n_disagreeing: judged.filter(attemptsDisagree).length,
      duration_ms: longest(cells),
    }
  })
}

const cellOf = (attempts: readonly ScenarioOutcome[], scale: GridScale, marks: AttemptMarks): GridCell => {
  const states = new Set(attempts.map(({ state }) => state))
  const { counting } = scale
  const left = attempts.filter((each) => !marks.get(each)?.isExcluded)
  const isExcluded = left.length === 0 && attempts.length > 0
  const judged = isExcluded ? attempts : left
  const scores = countedOf(judged, counting.zero)
  const score = { zero: meanOf(scores), leave_out: meanOf(countedOf(judged, counting.leave_out)) }
  return {
    attempts,
    score,
    passes: { zero: passes(score.zero, scale), leave_out: passes(score.leave_out, scale) },
    repeats: { n: scores.length, passed: scores.filter((each) => passes(each, scale)).length },
    state: states.size > 1 ? 'MIXED' : (attempts[0]?.state ?? null),
    duration_ms: longest(attempts),
    isExcluded,
  }
}

const countedOf = (attempts: readonly ScenarioOutcome[], rule: CountingRule): number[] =>
  attempts.flatMap((attempt) => countedScore(attempt, rule) ?? [])

const longest = (timed: readonly { duration_ms?: number | null | undefined }[]): number | null =>
  timed.reduce<number | null>(
    (most, { duration_ms }) => (duration_ms == null ? most : Math.max(most ?? 0, duration_ms)),
    null,
  )

const scoresOf = (cells: readonly GridCell[], rule: FailureRule): number[] =>
  cells.flatMap(({ score }) => score[rule] ?? [])

const spreadOf = (cells: readonly GridCell[], rule: FailureRule): number | null => {
  const scores = scoresOf(cells, rule)
  return scores.length < 2 ? null : Math.max(...scores) - Math.min(...scores)
}

/** End of a name prefix: `django__django-123`, `org/task`, `sort-names`. */
const separators = [/\//, /__/, /[-_.: ]/]
export const otherGroup = 'other'

const prefixOf = (name: string): string => {
  for (const separator of separators) {
    const at = name.search(separator)
    if (at > 0) return name.slice(0, at)
  }
  return name
}

const groupsOf = (names: readonly string[]): Map<string, string> => {
  const sizes = new Map<string, number>()
  const distinct = new Set(names)
  for (const name of distinct) sizes.set(prefixOf(name), (sizes.get(prefixOf(name)) ?? 0) + 1)
  return new Map(
    [...distinct].map((name) => [name, (sizes.get(prefixOf(name)) ?? 0) > 1 ? prefixOf(name) : otherGroup]),
  )
}

export interface Unscored {
  scenarios: readonly ScenarioRow[]
  agents: readonly AgentRow[]
  attempts: number
}

export const unscoredOf = (rows: readonly ScenarioRow[], agents: readonly AgentRow[]): Unscored => {
  const hasNoScore = ({ score }: { score?: number | null | undefined }) => score == null
  const attempts = rows.flatMap(({ cells }) => cells.flatMap((cell) => cell.attempts)).filter(hasNoScore)
  return {
    scenarios: rows.filter(({ cells }) => cells.some((cell) => cell.attempts.some(hasNoScore))),
    agents: agents.filter((_, at) => rows.some(({ cells }) => cells[at]?.attempts.some(hasNoScore))),
    attempts: attempts.length,
  }
}
