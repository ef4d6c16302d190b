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

const firstShown = 8
const namesShown = 6

/** What went wrong over all agents, one entry for failures that are the same but for numbers, ids and paths. */
export const FailureList = ({ agents, onOpen }: FailureListProps) => {
  const groups = failureGroups(agents)
  const [isWhole, setIsWhole] = useState(false)
  const total = groups.reduce((sum, { count }) => sum + count, 0)
  const attempts = agents.reduce((sum, { outcome }) => sum + (outcome?.scenario_outcomes.length ?? 0), 0)
  const shown = isWhole ? groups : groups.slice(0, firstShown)
  if (attempts === 0) return null
  return (
    <section aria-label="Failures" className="space-y-2">
      <h2 className="text-lg font-medium">Failures</h2>
      <p className="tabular text-sm text-muted">
        {total === 0
          ? `None of ${countOf(attempts, 'outcome')} has a failure.`
          : `${formatCount(total)} of ${countOf(attempts, 'outcome')} ${total === 1 ? 'has' : 'have'} a failure, of ${formatCountOf(groups.length, 'kind')}. Numbers, ids and paths in a message are taken as the same.`}
      </p>
      <ul className="divide-y divide-line border-y border-line empty:hidden">
        {shown.map((group) => (
          <Failure key={group.key} group={group} agents={agents} onOpen={onOpen} />
        ))}
      </ul>
      {groups.length > firstShown && (
        <Button size="sm" onClick={() => setIsWhole(!isWhole)}>
          {isWhole ? `Show the first ${firstShown}` : `Show all ${formatCount(groups.length)} kinds`}
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
          {' at '}
          <VisibleText max={400}>{scenarios.slice(0, namesShown).join(', ')}</VisibleText>
          {scenarios.length > namesShown && ` and ${countOf(scenarios.length - namesShown, 'more scenario')}`}
        </p>
        <details className="text-sm">
          <summary className="w-fit text-muted hover:text-text">First example in full</summary>
          <ScrolledText className="mt-1 max-h-72">{first.outcome.failure_reason?.exception_message ?? ''}</ScrolledText>
        </details>
      </div>
      <Button size="sm" onClick={() => onOpen(first)}>
        Open first and its log
      </Button>
    </li>
  )
}
