import type { Devbox } from '#lib/contract/devboxes.ts'
import type { Alert } from '#lib/protocol/alerts.ts'

/** A devbox is suspended right after its deadline, and within this time where its suspend commands take long. */
const lateMs = 60_000
/** The service's clock and what it writes need not agree to the millisecond. */
const earlyMs = 1_000

const startsSuspension = (steps: Devbox['state_transitions'], index: number): boolean =>
  steps[index]?.status === 'suspending' ||
  (steps[index]?.status === 'suspended' && steps[index - 1]?.status !== 'suspending')

/** The eviction that suspended the devbox at this step of its history; undefined for other steps. */
export const evictionOfStep = (
  evictions: readonly Alert[],
  steps: Devbox['state_transitions'],
  index: number,
): Alert | undefined =>
  evictions.find(({ kind, state, deadline_ms }) => {
    if (kind !== 'eviction' || state !== 'ended') return false
    // The first suspension after a deadline is the eviction; a person may suspend the devbox again soon after.
    const first = steps.findIndex(
      ({ transition_time_ms: timeMs }, i) =>
        timeMs !== undefined &&
        timeMs >= deadline_ms - earlyMs &&
        timeMs <= deadline_ms + lateMs &&
        startsSuspension(steps, i),
    )
    return first !== -1 && first === index
  })

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
