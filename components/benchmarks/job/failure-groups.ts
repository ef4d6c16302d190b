import type { ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import { inNameOrder } from '#lib/statistics/tallies.ts'
import type { AgentRow } from '../job-figures.ts'

export interface FailedAttempt {
  outcome: ScenarioOutcome
  agent: number
  attempt: number
}

/** Failures with one exception whose messages differ only in numbers, ids and paths. */
export interface FailureGroup {
  key: string
  exception_type: string
  /** Message with placeholders `#`, `<id>`, `<path>` and `<url>`. */
  message: string
  count: number
  agents: readonly number[]
  scenarios: readonly string[]
  first: FailedAttempt
}

export const failureGroups = (agents: readonly AgentRow[]): FailureGroup[] => {
  const groups = new Map<string, { type: string; message: string; failures: FailedAttempt[] }>()
  for (const [agent, { outcome }] of agents.entries()) {
    const counts = new Map<string, number>()
    for (const each of outcome?.scenario_outcomes ?? []) {
      const attempt = (counts.get(each.scenario_definition_id) ?? 0) + 1
      counts.set(each.scenario_definition_id, attempt)
      if (!each.failure_reason || each.state === 'CANCELED') continue
      const { exception_type: type, exception_message } = each.failure_reason
      const message = normalized(exception_message)
      const key = `${type}\n${message}`
      const group = groups.get(key) ?? { type, message, failures: [] }
      group.failures.push({ outcome: each, agent, attempt })
      groups.set(key, group)
    }
  }
  return [...groups]
    .map(([key, { type, message, failures }]) => ({
      key,
      exception_type: type,
      message,
      count: failures.length,
      agents: [...new Set(failures.map(({ agent }) => agent))],
      scenarios: [
        ...new Set(failures.map(({ outcome }) => outcome.scenario_name.trim() || outcome.scenario_definition_id)),
      ].sort(inNameOrder),
      first: failures[0] as FailedAttempt,
    }))
    .sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1))
}

/** Long stacks are compared by their beginning. */
const maxCompared = 600

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

export const normalized = (message: string): string =>
  placeholders
    .reduce((text, [pattern, place]) => text.replace(pattern, place), message.slice(0, maxCompared))
    .replace(/\s+/g, ' ')
    .trim()
