import { useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { ScrolledText } from '#components/ui/scrolled.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import type { ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import { countOf } from '#lib/protocol/report-words.ts'
import { inNameOrder } from '#lib/statistics/tallies.ts'
import { type AgentRow, shortLabels } from '../job-figures.ts'

interface FailureListProps {
  agents: readonly AgentRow[]
  onOpen: (failed: FailedAttempt) => void
}

const maxCollapsed = 8
const maxNames = 6

export const FailureList = ({ agents, onOpen }: FailureListProps) => {
  const groups = failureGroups(agents)
  const [isExpanded, setIsExpanded] = useState(false)
  const total = groups.reduce((sum, { count }) => sum + count, 0)
  const attempts = agents.reduce((sum, { outcome }) => sum + (outcome?.scenario_outcomes.length ?? 0), 0)
  const shown = isExpanded ? groups : groups.slice(0, maxCollapsed)
  if (attempts === 0) return null
  return (
    <section aria-label="Failures" className="space-y-2">
      <h2 className="text-lg font-medium">Failures</h2>
      <p className="tabular text-sm text-muted">
        {total === 0
          ? `No failures in ${countOf(attempts, 'outcome')}.`
          : `${formatCount(total)} of ${countOf(attempts, 'outcome')} failed, in ${formatCountOf(groups.length, 'group')}. Messages that differ only in numbers, IDs and paths are grouped.`}
      </p>
      <ul className="divide-y divide-line border-y border-line empty:hidden">
        {shown.map((group) => (
          <Failure key={group.key} group={group} agents={agents} onOpen={onOpen} />
        ))}
      </ul>
      {groups.length > maxCollapsed && (
        <Button size="sm" onClick={() => setIsExpanded(!isExpanded)}>
          {isExpanded ? `Show the first ${maxCollapsed}` : `Show all ${formatCount(groups.length)} groups`}
        </Button>
      )}
    </section>
  )
}

const Failure = ({ group, agents, onOpen }: { group: FailureGroup } & FailureListProps) => {
  const { exception_type, message, count, scenarios, first } = group
  const labels = shortLabels(agents)
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-1 py-2">
      <span className="tabular w-14 shrink-0 text-right text-lg font-medium">
        {formatCount(count)}
        <span className="sr-only"> times</span>
      </span>
      <div className="min-w-0 flex-1 basis-72 space-y-0.5">
        <p>
          <code className="font-mono font-medium">
            <VisibleText max={120}>{exception_type}</VisibleText>
          </code>{' '}
          <VisibleText max={300} className="text-muted">
            {message}
          </VisibleText>
        </p>
        <p className="text-sm text-muted">
          <VisibleText max={600}>{group.agents.map((at) => labels[at]).join(', ')}</VisibleText>
          {' in '}
          <VisibleText max={400}>{scenarios.slice(0, maxNames).join(', ')}</VisibleText>
          {scenarios.length > maxNames && ` and ${countOf(scenarios.length - maxNames, 'more scenario')}`}
        </p>
        <details className="text-sm">
          <summary className="w-fit text-muted hover:text-text">Full example</summary>
          <ScrolledText className="mt-1 max-h-72">{first.outcome.failure_reason?.exception_message ?? ''}</ScrolledText>
        </details>
      </div>
      <Button size="sm" onClick={() => onOpen(first)}>
        Open first
      </Button>
    </li>
  )
}

export interface FailedAttempt {
  outcome: ScenarioOutcome
  agent: number
  attempt: number
}

/** Failures with one exception whose messages differ only in numbers, ids and paths. */
interface FailureGroup {
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
