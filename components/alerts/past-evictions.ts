import type { Devbox } from '#lib/contract/devboxes.ts'
import type { Alert } from '#lib/protocol/alerts.ts'

/** Suspend commands can delay the suspension by up to this long. */
const maxDelayMs = 60_000
/** Tolerance between the service's clock and its records. */
const clockSlackMs = 1_000

const startsSuspension = (steps: Devbox['state_transitions'], index: number): boolean =>
  steps[index]?.status === 'suspending' ||
  (steps[index]?.status === 'suspended' && steps[index - 1]?.status !== 'suspending')

/** The eviction that caused the suspension at `index`, if any. */
export const evictionAtStep = (
  evictions: readonly Alert[],
  steps: Devbox['state_transitions'],
  index: number,
): Alert | undefined =>
  evictions.find(({ kind, state, deadline_ms }) => {
    if (kind !== 'eviction' || state !== 'ended') return false
    // Only the first suspension after a deadline is the eviction; a person may suspend the devbox again soon after.
    const first = steps.findIndex(
      ({ transition_time_ms: timeMs }, i) =>
        timeMs !== undefined &&
        timeMs >= deadline_ms - clockSlackMs &&
        timeMs <= deadline_ms + maxDelayMs &&
        startsSuspension(steps, i),
    )
    return first !== -1 && first === index
  })

/** The eviction that suspended a devbox, if it is suspended now. */
export const currentSuspensionCause = (
  evictions: readonly Alert[],
  { status, state_transitions: steps }: Pick<Devbox, 'status' | 'state_transitions'>,
): Alert | undefined => {
  if (status !== 'suspended' && status !== 'suspending') return undefined
  const last = steps.length - 1
  return (
    evictionAtStep(evictions, steps, last) ??
    (status === 'suspended' ? evictionAtStep(evictions, steps, last - 1) : undefined)
  )
}
