import type { Devbox } from '#lib/contract/devboxes.ts'
import type { Alert } from '#lib/wire/alerts.ts'

/** A devbox is suspended right after its deadline, and within this time where its suspend commands take long. */
const lateMs = 60_000
/** The service's clock and what it writes need not agree to the millisecond. */
const earlyMs = 1_000

/** The eviction that began with this step of the devbox's history; undefined where it was suspended otherwise. */
export const evictionOfStep = (
  evictions: readonly Alert[],
  steps: Devbox['state_transitions'],
  index: number,
): Alert | undefined => {
  const { status, transition_time_ms: timeMs } = steps[index] ?? {}
  const isFirst = status === 'suspending' || (status === 'suspended' && steps[index - 1]?.status !== 'suspending')
  if (!isFirst || timeMs === undefined) return undefined
  return evictions.find(
    ({ kind, state, deadline_ms }) =>
      kind === 'eviction' && state === 'ended' && timeMs >= deadline_ms - earlyMs && timeMs <= deadline_ms + lateMs,
  )
}

/** The eviction that a devbox which is suspended now was suspended by. */
export const evictionBehind = (
  evictions: readonly Alert[],
  { status, state_transitions: steps }: Pick<Devbox, 'status' | 'state_transitions'>,
): Alert | undefined => {
  if (status !== 'suspended' && status !== 'suspending') return undefined
  const last = steps.length - 1
  return (
    evictionOfStep(evictions, steps, last) ??
    (status === 'suspended' ? evictionOfStep(evictions, steps, last - 1) : undefined)
  )
}
