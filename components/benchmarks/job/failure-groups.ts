import type { ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import { inNameOrder } from '#lib/statistics/tallies.ts'
import type { AgentRow } from '../job-figures.ts'

export interface FailedAttempt {
  outcome: ScenarioOutcome
  /** The column of the agent. */
  agent: number
  /** Which attempt at its scenario this is, from 1. */
  attempt: number
}

/** Failures of one exception whose messages differ in numbers, ids and paths alone. */
export interface FailureGroup {
  key: string
  exception_type: string
  /** The message with `#`, `<id>`, `<path>` and `<url>` in the place of what differs. */
  message: string
  count: number
  /** Columns of the agents it happened to. */
  agents: readonly number[]
  /** Names of the scenarios it happened at. */
  scenarios: readonly string[]
  first: FailedAttempt
}

/** The failures of all agents, the most frequent group first. */
export const failureGroups = (agents: readonly AgentRow[]): FailureGroup[] => {
  const groups = new Map<string, { type: string; message: string; failures: FailedAttempt[] }>()
  for (const [agent, { outcome }] of agents.entries()) {
    const seen = new Map<string, number>()
    for (const each of outcome?.scenario_outcomes ?? []) {
      const attempt = (seen.get(each.scenario_definition_id) ?? 0) + 1
      seen.set(each.scenario_definition_id, attempt)
      // What was cancelled did not fail.
      if (!each.failure_reason || each.state === 'CANCELED') continue
      const { exception_type: type, exception_message } = each.failure_reason
      const message = normalised(exception_message)
      const key = `${type}\n${message}`
      const group = groups.get(key)
      const failure = { outcome: each, agent, attempt }
      if (group) group.failures.push(failure)
      else groups.set(key, { type, message, failures: [failure] })
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

/** Enough of a message to tell one failure from another; a stack of a megabyte is not compared whole. */
const maxCompared = 600

// In this order: a path may hold ids, an id digits.
const varying: [RegExp, string][] = [
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>)]+/gi, '<url>'],
  [/(?<![\w.])~?(?:\/[\w.@+~-]+){2,}\/?/g, '<path>'],
  [/\b[a-z]:\\[^\s"'<>|]+/gi, '<path>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<id>'],
  [/\b[a-z]{2,5}_(?=\w*\d)\w{6,}\b/gi, '<id>'],
  [/\b(?:0x)?(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,}\b/gi, '<id>'],
  [/\d+(?:[.,:]\d+)*/g, '#'],
]

export const normalised = (message: string): string =>
  varying
    .reduce((text, [pattern, place]) => text.replace(pattern, place), message.slice(0, maxCompared))
    .replace(/\s+/g, ' ')
    .trim()
