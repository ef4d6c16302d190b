import { type Devbox, hasEnded } from '#lib/contract/devboxes.ts'

export interface DevboxCounts {
  running: number
  suspended: number
  shutDown: number
  failed: number
  /** In transition, or in a state this console doesn't know. */
  moving: number
}

export const countDevboxes = (devboxes: readonly Pick<Devbox, 'status'>[]): DevboxCounts => {
  const counts: DevboxCounts = { running: 0, suspended: 0, shutDown: 0, failed: 0, moving: 0 }
  for (const { status } of devboxes) counts[groupOf(status)]++
  return counts
}

/** The devboxes that existed at a time, with their status then. */
export const devboxesAt = (devboxes: readonly Pick<Devbox, 'state_transitions'>[], ms: number): { status: string }[] =>
  devboxes.flatMap(({ state_transitions }) => {
    const last = state_transitions.findLast(({ transition_time_ms }) => (transition_time_ms ?? 0) <= ms)
    return last?.status ? { status: last.status } : []
  })

const groupOf = (status: string): keyof DevboxCounts => {
  if (status === 'running' || status === 'suspended') return status
  if (!hasEnded(status)) return 'moving'
  return status === 'failure' ? 'failed' : 'shutDown'
}
