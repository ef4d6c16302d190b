import { type AgentIdentity, type AttemptOutcome, isControl, type ScoreScale } from '#lib/statistics/figures.ts'
import { isBuiltIn } from '#lib/statistics/metrics.ts'
import { countedScore, hasTimedOut, passes } from '#lib/statistics/tallies.ts'
import { metricLabel } from './report-words.ts'
import type { FailureGroupFigures, FailureKind } from './reports.ts'

type FailedAttempt = Pick<AttemptOutcome, 'state' | 'score' | 'failure_reason'>

interface JudgedScale extends ScoreScale {
  /** Attempts that don't report a built-in metric haven't failed. */
  metric?: string | null | undefined
}

interface FailedAgent extends Pick<AgentIdentity, 'agent_name' | 'benchmark_run_id'> {
  outcomes: readonly AttemptOutcome[]
}

/**
 * Groups attempts that failed, timed out or scored too low, most points lost first. Controls are left out unless there is
 * nothing else: nop is meant to fail.
 */
export function* groupingFailures(
  agents: readonly FailedAgent[],
  scale: JudgedScale,
): Generator<void, FailureGroupFigures[]> {
  const groups = new Map<string, FailureGroupFigures & { scenarios: Set<string> }>()
  for (const { benchmark_run_id, outcomes } of withoutControls(agents, ({ agent_name }) => agent_name)) {
    const byScenario = [...Map.groupBy(outcomes, ({ scenario_id }) => scenario_id)]
    const lost = pointsLost(
      byScenario.map(([, attempts]) => attempts),
      scale,
    )
    for (const [scenario_id, attempts] of byScenario)
      for (const [at, outcome] of attempts.entries()) {
        const failure = failureOf(outcome, scale)
        if (failure === null) continue
        const known = groups.get(failure.key)
        const group = known ?? {
          ...failure,
          n_attempts: 0,
          n_scenarios: 0,
          agents: [],
          points: lost && 0,
          first: { benchmark_run_id, scenario_id, attempt: at + 1 },
          scenarios: new Set<string>(),
        }
        if (!known) groups.set(failure.key, group)
        const agent = group.agents.find((each) => each.benchmark_run_id === benchmark_run_id) ?? {
          benchmark_run_id,
          n_attempts: 0,
          points: lost && 0,
        }
        if (agent.n_attempts === 0) group.agents.push(agent)
        const points = lost?.get(outcome) ?? 0
        group.n_attempts++
        agent.n_attempts++
        if (group.points !== null) group.points += points
        if (agent.points !== null) agent.points += points
        group.scenarios.add(scenario_id)
      }
    yield
  }
  return [...groups.values()]
    .map(({ scenarios, ...group }) => ({ ...group, n_scenarios: scenarios.size }))
    .sort((a, b) => (b.points ?? 0) - (a.points ?? 0) || b.n_attempts - a.n_attempts || (a.key < b.key ? -1 : 1))
}

export const failureGroupsOf = (agents: readonly FailedAgent[], scale: JudgedScale): FailureGroupFigures[] => {
  const steps = groupingFailures(agents, scale)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** All agents but the controls, or all if there is nothing else. */
export const withoutControls = <A>(agents: readonly A[], nameOf: (agent: A) => string): readonly A[] => {
  const others = agents.filter((agent) => !isControl(nameOf(agent)))
  return others.length > 0 ? others : agents
}

/**
 * Points each counted attempt takes from its agent's mean, with failures as 0; with the mean they add up to 1. Null for scores
 * without a maximum and where lower is better.
 */
export const pointsLost = <A extends FailedAttempt>(
  scenarios: readonly (readonly A[])[],
  { is_unit_range, lower_is_better }: Pick<ScoreScale, 'is_unit_range' | 'lower_is_better'>,
): ReadonlyMap<A, number> | null => {
  if (!is_unit_range || lower_is_better) return null
  const counted = scenarios
    .map((attempts) =>
      attempts.flatMap((attempt) => {
        const score = countedScore(attempt, 'zero')
        return score === undefined ? [] : [{ attempt, score }]
      }),
    )
    .filter(({ length }) => length > 0)
  return new Map(
    counted.flatMap((attempts) =>
      attempts.flatMap(({ attempt, score }) =>
        score >= 1 ? [] : [[attempt, (1 - score) / attempts.length / counted.length] as const],
      ),
    ),
  )
}

interface Failure {
  key: string
  kind: FailureKind
  title: string
  message: string
}

/** Returns null for canceled attempts, unknown states and attempts with a full score. */
export const failureOf = (outcome: FailedAttempt, scale: JudgedScale): Failure | null => {
  const { failure_reason } = outcome
  const score = countedScore(outcome, 'zero')
  if (score === undefined) return null
  const kind = failureKindOf(outcome)
  if (kind === 'wrong') return wrongAnswer(outcome, score, scale)
  if (!failure_reason) {
    const title = kind === 'timeout' ? 'Timed out' : 'Failed without an exception'
    return { key: kind, kind, title, message: '' }
  }
  const title = failure_reason.exception_type.slice(0, maxTitle)
  const message = normalizeMessage(failure_reason.exception_message ?? '')
  return { key: `${kind}-${hash(`${failure_reason.exception_type}\n${message}`)}`, kind, title, message }
}

/** An attempt with an exception can still have a score: Harbor verifies what a timeout left behind. */
export const failureKindOf = (outcome: FailedAttempt): FailureKind => {
  if (hasTimedOut(outcome)) return 'timeout'
  return outcome.state === 'FAILED' || outcome.failure_reason ? 'exception' : 'wrong'
}

const wrongAnswer = (outcome: FailedAttempt, score: number, scale: JudgedScale): Failure | null => {
  const { is_unit_range, threshold, lower_is_better, metric } = scale
  const wrong = (key: string, title: string): Failure => ({ key, kind: 'wrong', title, message: '' })
  if (outcome.score == null || !Number.isFinite(outcome.score))
    return lower_is_better || isBuiltIn(metric) ? null : wrong('no-score', 'Completed without a score')
  if (lower_is_better || !is_unit_range) {
    if (passes(score, scale) !== false) return null
    const side = lower_is_better ? 'above' : 'below'
    const limit = isBuiltIn(metric) ? `${metricLabel(metric)} ${side} ${threshold}` : `scored ${side} ${threshold}`
    return wrong('threshold', limit[0]?.toUpperCase() + limit.slice(1))
  }
  if (score >= 1) return null
  return score <= 0 ? wrong('zero', 'Wrong answer: scored 0') : wrong('partial', 'Scored between 0 and 1')
}

const maxTitle = 200
const maxRead = 900
/** Well below `maxRead`, or long numbers would change where messages end. */
const maxCompared = 300

// The order matters: paths contain ids, ids contain digits.
const placeholders: [RegExp, string][] = [
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>)]+/gi, '<url>'],
  [/(?<![\w.])~?(?:\/[\w.@+~-]+){2,}\/?/g, '<path>'],
  [/\b[a-z]:\\[^\s"'<>|]+/gi, '<path>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<id>'],
  [/\b[a-z]{2,5}_(?=\w*\d)\w{6,}\b/gi, '<id>'],
  [/\b(?:0x)?(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,}\b/gi, '<id>'],
  [/\d+(?:[.,:]\d+)*/g, '#'],
]

/** Replaces numbers, IDs, paths and URLs by `#`, `<id>`, `<path>` and `<url>`. */
export const normalizeMessage = (message: string): string =>
  placeholders
    .reduce((text, [pattern, place]) => text.replace(pattern, place), message.slice(0, maxRead))
    .replace(/\s+/g, ' ')
    .slice(0, maxCompared)
    .trim()

/** Two 32-bit hashes, as messages are too long for an address. */
const hash = (text: string): string => {
  let [a, b] = [0x811c9dc5, 0x9e3779b9]
  for (let at = 0; at < text.length; at++) {
    a = Math.imul(a ^ text.charCodeAt(at), 0x01000193)
    b = Math.imul(b ^ text.charCodeAt(at), 0x85ebca6b)
  }
  return (a >>> 0).toString(36) + (b >>> 0).toString(36)
}
