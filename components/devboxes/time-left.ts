import type { Devbox } from '#lib/contract/devboxes.ts'
import type { Alert } from '#lib/protocol/alerts.ts'
import { unattendedEnd } from '#lib/protocol/devbox-ends.ts'

/** The first of all deadlines that end or suspend a devbox. */
export interface TimeLeft {
  at_ms: number
  cause: 'eviction' | 'keep_alive' | 'idle'
  is_at_least: boolean
  deletesDisk: boolean
}

export const timeLeftOf = (devbox: Devbox, eviction: Pick<Alert, 'deadline_ms'> | undefined): TimeLeft | undefined => {
  const end = unattendedEnd(devbox)
  const unattended = end && {
    at_ms: end.at_ms,
    cause: end.cause,
    is_at_least: end.is_at_least,
    deletesDisk: end.action === 'shutdown',
  }
  // A service may go on reporting the eviction of a devbox that it has suspended.
  const evicted = eviction &&
    !stopped.includes(devbox.status) && {
      at_ms: eviction.deadline_ms,
      cause: 'eviction' as const,
      is_at_least: false,
      deletesDisk: false,
    }
  if (!evicted || !unattended) return evicted || unattended
  return evicted.at_ms <= unattended.at_ms ? evicted : unattended
}

const stopped: readonly string[] = ['suspending', 'suspended', 'shutdown', 'failure']
