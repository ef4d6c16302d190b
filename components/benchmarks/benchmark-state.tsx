import type { LucideIcon as Icon } from 'lucide-react'
import { Ban, CircleCheck, CircleHelp, CircleX, ClockAlert, Hourglass, LoaderCircle } from 'lucide-react'
import { Badge, type Tone } from '#components/ui/badge.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { benchmarkJobStates, scenarioOutcomeStates } from '#lib/contract/benchmark-jobs.ts'
import type { BenchmarkRunState } from '#lib/contract/benchmark-runs.ts'
import type { ScenarioRunState } from '#lib/contract/scenario-runs.ts'

interface Look {
  tone: Tone
  icon: Icon
  word: string
}

const queued: Look = { tone: 'neutral', icon: Hourglass, word: 'Queued' }
const running: Look = { tone: 'progress', icon: LoaderCircle, word: 'Running' }
const completed: Look = { tone: 'ok', icon: CircleCheck, word: 'Completed' }
const failed: Look = { tone: 'danger', icon: CircleX, word: 'Failed' }
const cancelled: Look = { tone: 'neutral', icon: Ban, word: 'Cancelled' }
const timeout: Look = { tone: 'attention', icon: ClockAlert, word: 'Timed out' }

const jobLooks: Record<(typeof benchmarkJobStates)[number], Look> = {
  queued,
  initializing: { tone: 'progress', icon: LoaderCircle, word: 'Initializing' },
  running,
  completed,
  failed,
  cancelled,
  timeout,
}
const runLooks: Record<BenchmarkRunState, Look> = { running, completed, failed, canceled: cancelled }
const outcomeLooks: Record<(typeof scenarioOutcomeStates)[number], Look> = {
  COMPLETED: completed,
  FAILED: failed,
  TIMEOUT: timeout,
  CANCELED: cancelled,
}
const scenarioRunLooks: Record<ScenarioRunState, Look> = {
  running,
  scoring: { tone: 'progress', icon: LoaderCircle, word: 'Scoring' },
  scored: { tone: 'progress', icon: CircleCheck, word: 'Scored' },
  completed,
  failed,
  canceled: cancelled,
  timeout,
}
const looks: Record<'job' | 'run' | 'outcome' | 'scenario-run', Record<string, Look>> = {
  job: jobLooks,
  run: runLooks,
  outcome: outcomeLooks,
  'scenario-run': scenarioRunLooks,
}

/** The wire spells cancellation in three ways; the word shown is one, and the title has the wire's. */
export const BenchmarkState = ({ of, state }: { of: keyof typeof looks; state: string }) => {
  const known = looks[of]
  const look = Object.hasOwn(known, state) ? known[state] : undefined
  return (
    <Badge
      tone={look?.tone ?? 'neutral'}
      icon={look?.icon ?? CircleHelp}
      busy={look?.icon === LoaderCircle}
      title={state}
    >
      {look?.word ?? <VisibleText max={40}>{state || 'Unknown'}</VisibleText>}
    </Badge>
  )
}

/** Between the request to cancel a run and its end. */
export const CancellingBadge = () => (
  <Badge tone="progress" icon={LoaderCircle} busy>
    Cancelling
  </Badge>
)
