'use client'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/console/frame/format.ts'
import type { BenchmarkOutcome } from '#lib/contract/benchmark-jobs.ts'
import { formatScore, scoreBase } from './job-figures.ts'

/** An agent and the model it works with. */
export const AgentName = ({ name, model }: { name: string; model: string | null | undefined }) => (
  <>
    <VisibleText max={80}>{name}</VisibleText>
    {model && (
      <span className="ml-2 font-normal text-muted">
        <VisibleText max={80}>{model}</VisibleText>
      </span>
    )}
  </>
)

/** The mean of an agent and what it was taken over: never one without the other. */
export const AverageScore = ({ outcome }: { outcome: BenchmarkOutcome }) => (
  <span className="tabular whitespace-nowrap" title={`Mean over the completed: ${scoreBase(outcome)}`}>
    <span className="font-medium">
      {outcome.average_score == null ? 'No score' : formatScore(outcome.average_score)}
    </span>{' '}
    <span className="text-muted">
      (n = {formatCount(outcome.n_completed)} of {formatCount(outcome.scenario_outcomes.length)})
    </span>
  </span>
)

/** How many are done of how many there will be. */
export const Progress = ({ finished, total, label }: { finished: number; total: number | null; label: string }) => (
  <span className="inline-flex items-center gap-2 whitespace-nowrap">
    {total !== null && total > 0 && (
      <progress
        aria-label={label}
        value={finished}
        max={total}
        className="h-1.5 w-24 overflow-hidden rounded-full [&::-webkit-progress-bar]:bg-surface-3 [&::-webkit-progress-value]:bg-accent"
      />
    )}
    <span className="tabular">
      {total === null ? `${formatCount(finished)} finished` : `${formatCount(finished)} of ${formatCount(total)}`}
    </span>
  </span>
)
