import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { plannedTrials } from '#lib/protocol/job-plan.ts'
import { countOf, metricText, pText, runNames } from '#lib/protocol/report-words.ts'
import {
  type ComparedPair,
  type CompareReport,
  type GateKind,
  type GateResult,
  type GateRun,
  gateKinds,
} from '#lib/protocol/reports.ts'
import { isControl } from '#lib/statistics/figures.ts'
import { identityOf } from '#lib/statistics/judgment.ts'
import { isBuiltIn } from '#lib/statistics/metrics.ts'
import { HttpError } from '../http/handle-request.ts'
import { endings } from './job-verdict.ts'
import { isComplete } from './judged-job.ts'
import { numberOf, oneOf } from './report-request.ts'

export interface Gate {
  kind: GateKind
  margin: number | null
}

export const parseGate = (kind: string | undefined, givenMargin: string | undefined): Gate | undefined => {
  if (!kind) {
    if (givenMargin) throw new HttpError('invalid_argument', 'margin requires gate=non_inferior', { field: 'margin' })
    return undefined
  }
  const gate = { kind: oneOf('gate', gateKinds, kind), margin: numberOf('margin', givenMargin || undefined) ?? null }
  if (gate.kind !== 'non_inferior' && gate.margin !== null)
    throw new HttpError('invalid_argument', `gate=${gate.kind} has no margin`, { field: 'margin' })
  if (gate.kind === 'non_inferior' && !((gate.margin ?? 0) > 0))
    throw new HttpError('invalid_argument', 'margin must be above 0 for gate=non_inferior', { field: 'margin' })
  return gate
}

type Figures = Pick<CompareReport, 'jobs' | 'baseline' | 'agents' | 'pairs'> & {
  lower_is_better?: boolean
  metric?: string | null
}

/** Applies the rule to each compared run except controls. `unfinished` describes jobs whose numbers may still change. */
export const gateOf = (gate: Gate, report: Figures, unfinished: readonly string[]): GateResult => {
  const { jobs, baseline, agents, pairs } = report
  const isBaseline = ({ job_id, benchmark_run_id }: CompareReport['agents'][number]) =>
    benchmark_run_id === baseline || (jobs.length > 1 && job_id === baseline)
  const name = runNames(report)
  const runs = agents
    .filter((agent) => !isControl(agent.agent_name) && !isBaseline(agent))
    .flatMap((agent): (GateRun & { name: string })[] => {
      const a = identityOf(agent)
      const pair = pairs.find((each) => each.a.benchmark_run_id === a.benchmark_run_id)
      // In a single job, the first agent is the baseline.
      if (!pair && pairs.some((each) => each.b.benchmark_run_id === a.benchmark_run_id)) return []
      return [{ ...runOf(gate, a, pair, unfinished, report), name: name(a) }]
    })
  const decided = runs.length > 0 && runs.every((run) => run.decided)
  const passed = decided && runs.every((run) => run.passed)
  return {
    ...gate,
    passed,
    decided,
    sentence: sentenceOf(gate, passed, runs, report.metric),
    runs: runs.map(({ name: _, ...run }) => run),
  }
}

export const unfinishedJobs = (jobs: readonly BenchmarkJob[]): string[] =>
  jobs.flatMap((job) => {
    if (!isComplete(job)) return [`${job.name} hasn't ended`]
    const made = (job.benchmark_outcomes ?? [])
      .flatMap(({ scenario_outcomes }) => scenario_outcomes)
      .filter(({ state }) => state !== 'CANCELED').length
    const planned = plannedTrials(job) ?? 0
    return job.state in endings && made < planned
      ? [`${job.name} ${endings[job.state]}: ${made} of ${countOf(planned, 'attempt')} have an outcome`]
      : []
  })

const runOf = (
  { kind, margin }: Gate,
  a: GateRun['a'],
  pair: ComparedPair | undefined,
  unfinished: readonly string[],
  { lower_is_better: isLowerBetter = false, metric }: Pick<Figures, 'lower_is_better' | 'metric'>,
): GateRun => {
  const { difference = null, p_value = null, p_adjusted = null } = pair ?? {}
  const bound = kind === 'non_inferior' && pair ? boundOf(pair, isLowerBetter) : null
  const run = { a, b: pair?.b ?? null, difference, bound, p_adjusted: p_adjusted ?? p_value }
  const undecided = (reason: string): GateRun => ({ ...run, passed: false, decided: false, reason })
  const decided = (passed: boolean, reason: string): GateRun => ({ ...run, passed, decided: true, reason })
  if (unfinished.length > 0) return undecided(unfinished.join('; '))
  if (!pair) return undecided('the baseline has no run of this agent')
  if (difference === null) return undecided(pair.reasons.difference ?? 'no common scenario')
  const better = isLowerBetter ? -difference : difference
  const evidence = evidenceOf(pair, metric)
  if (kind === 'non_inferior' && margin !== null) {
    if (bound === null) return undecided(`no confidence interval: ${pair.reasons.ci_low ?? 'it is undefined'}`)
    const passed = isLowerBetter ? bound < margin : bound > -margin
    const limit = isLowerBetter ? margin : -margin
    const side = isLowerBetter ? 'upper' : 'lower'
    const direction = isLowerBetter === passed ? 'below' : 'above'
    return decided(
      passed,
      `${evidence}; the ${side} bound ${bound === limit ? 'is not beyond' : `${exact(bound, metric)} is ${direction}`} ${exact(limit, metric)}`,
    )
  }
  if (kind === 'superior')
    return decided(
      pair.significant && better > 0,
      `${pair.significant ? `significantly ${better > 0 ? 'better' : 'worse'}` : 'not significantly better'}; ${evidence}`,
    )
  const isWorse = pair.significant && better < 0
  const blind = !pair.significant && pair.n < pair.min_scenarios
  return decided(
    !isWorse,
    `${isWorse ? 'significantly worse' : 'not significantly worse'}; ${evidence}${
      blind ? `; fewer than ${pair.min_scenarios} scenarios can't show a regression` : ''
    }`,
  )
}

/**
 * Unspecified: the t interval is undefined without variance. If every one of at least two scenarios has the same score in both
 * runs, the bound is 0; an equal difference in every scenario stays undecided.
 */
const boundOf = ({ difference, se, n, ci_low, ci_high }: ComparedPair, isLowerBetter: boolean): number | null =>
  n > 1 && difference === 0 && se === 0 ? 0 : isLowerBetter ? ci_high : ci_low

/** More digits than the evidence has: a bound may be close to the margin. */
const exact = (value: number, metric: string | null | undefined) =>
  `${Number(value.toPrecision(6))}${isBuiltIn(metric) ? units[metric] : ''}`

const units = { '@cost_usd': ' USD', '@duration_ms': ' ms', '@tokens': ' tokens' }

const evidenceOf = (
  { difference, ci_low, ci_high, n, p_adjusted, p_value }: ComparedPair,
  metric: string | null | undefined,
): string => {
  const interval =
    ci_low === null || ci_high === null
      ? ''
      : `95% CI ${metricText(metric, ci_low)} to ${metricText(metric, ci_high)}, `
  const p = p_adjusted ?? p_value
  return `difference ${metricText(metric, difference ?? 0)} (${interval}n = ${n}${
    p === null ? '' : `, ${p_adjusted === null ? '' : 'adjusted '}${pText(p)}`
  })`
}

const sentenceOf = (
  { kind, margin }: Gate,
  passed: boolean,
  runs: readonly (GateRun & { name: string })[],
  metric: string | null | undefined,
): string => {
  if (runs.length === 0) return 'Gate not decided: no run to compare with the baseline.'
  const rule = {
    no_regression: 'no significant regression',
    superior: 'significantly better than the baseline',
    non_inferior: `not worse than the baseline by ${exact(margin ?? 0, metric)} or more`,
  }[kind]
  const named = (list: readonly (GateRun & { name: string })[]) =>
    list
      .slice(0, maxNamed)
      .map(({ name, reason }) => `${name}: ${reason}`)
      .join('. ') + (list.length > maxNamed ? `. And ${list.length - maxNamed} more` : '')
  if (passed) return `Gate passed (${rule}). ${named(runs)}.`
  const failed = runs.filter((run) => run.decided && !run.passed)
  if (failed.length > 0)
    return `Gate failed (${rule}): ${failed.length} of ${countOf(runs.length, 'run')}. ${named(failed)}.`
  const undecided = runs.filter((run) => !run.decided)
  // Usually the same for every run, for example a job that hasn't ended.
  const reasons = new Set(undecided.map(({ reason }) => reason))
  return `Gate not decided (${rule}). ${reasons.size === 1 ? [...reasons][0] : named(undecided)}.`
}

const maxNamed = 5
