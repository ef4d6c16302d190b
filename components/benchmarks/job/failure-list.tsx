import { useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { ScrolledText } from '#components/ui/scrolled.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { countOf } from '#lib/protocol/report-words.ts'
import { type AgentRow, shortLabels } from '../job-figures.ts'
import { type FailedAttempt, type FailureGroup, failureGroups } from './failure-groups.ts'

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
