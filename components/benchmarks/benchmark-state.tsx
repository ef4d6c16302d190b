import { Archive, Ban, CircleCheck, CircleDashed, CircleX, ClockAlert, Hourglass, LoaderCircle } from 'lucide-react'
import { StateBadge, type StateLook } from '#components/ui/badge.tsx'
import type { benchmarkJobStates, scenarioOutcomeStates } from '#lib/contract/benchmark-jobs.ts'
import type { BenchmarkRunState } from '#lib/contract/benchmark-runs.ts'
import type { ScenarioRunState } from '#lib/contract/scenario-runs.ts'
import type { definitionStatuses } from '#lib/contract/scenarios.ts'

const queued: StateLook = { tone: 'neutral', icon: Hourglass, word: 'Queued' }
const running: StateLook = { tone: 'progress', icon: LoaderCircle, word: 'Running' }
const completed: StateLook = { tone: 'ok', icon: CircleCheck, word: 'Completed' }
const failed: StateLook = { tone: 'danger', icon: CircleX, word: 'Failed' }
const canceled: StateLook = { tone: 'neutral', icon: Ban, word: 'Canceled' }
const timeout: StateLook = { tone: 'attention', icon: ClockAlert, word: 'Timed out' }

export const jobLooks: Record<(typeof benchmarkJobStates)[number], StateLook> = {
  initializing: { tone: 'progress', icon: LoaderCircle, word: 'Initializing' },
  queued,
  running,
  completed,
  failed,
  cancelled: canceled,
  timeout,
  incomplete: { tone: 'attention', icon: CircleDashed, word: 'Incomplete' },
}
export const runLooks: Record<BenchmarkRunState, StateLook> = { running, canceled, completed, failed }
export const outcomeLooks: Record<(typeof scenarioOutcomeStates)[number], StateLook> = {
  COMPLETED: completed,
  FAILED: failed,
  TIMEOUT: timeout,
  CANCELED: canceled,
}
export const scenarioRunLooks: Record<ScenarioRunState, StateLook> = {
  running,
  scoring: { tone: 'progress', icon: LoaderCircle, word: 'Scoring' },
  scored: { tone: 'progress', icon: CircleCheck, word: 'Scored' },
  completed,
  failed,
  canceled,
  timeout,
}
const definitionLooks: Record<(typeof definitionStatuses)[number], StateLook> = {
  active: { tone: 'ok', icon: CircleCheck, word: 'Active' },
  archived: { tone: 'neutral', icon: Archive, word: 'Archived' },
}
const looks: Record<'job' | 'run' | 'outcome' | 'scenario-run' | 'definition', Record<string, StateLook>> = {
  job: jobLooks,
  run: runLooks,
  outcome: outcomeLooks,
  'scenario-run': scenarioRunLooks,
  definition: definitionLooks,
}

export const wordsOf = <State extends string>(looks: Record<State, StateLook>): Record<State, string> =>
  Object.fromEntries(Object.entries<StateLook>(looks).map(([state, { word }]) => [state, word])) as Record<
    State,
    string
  >

/** Look of an outcome without a badge; undefined for an unknown state. */
export const outcomeLook = (state: string): StateLook | undefined =>
  Object.hasOwn(outcomeLooks, state) ? outcomeLooks[state as keyof typeof outcomeLooks] : undefined

/** The title keeps the service's spelling of the state. */
export const BenchmarkState = ({ of, state }: { of: keyof typeof looks; state: string }) => (
  <StateBadge looks={looks[of]} state={state} title={state} />
)
