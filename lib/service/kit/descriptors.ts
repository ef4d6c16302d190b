import { readdirSync, readFileSync } from 'node:fs'

/** A running devbox holds about five; one that starts has up to three more. */
const perDevbox = 8

/** How many files this process, or the one with this id, may have open. Node raises its own soft limit to the hard one. */
export const maxDescriptors = (pid: number | 'self' = 'self'): number => {
  const [, soft = ''] = /^Max open files +(\S+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8')) ?? []
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
}

/** Whether so many devboxes can still start and leave enough for connections, commands and the database. */
export const hasDescriptorsFor = (devboxes: number): boolean => {
  try {
    const max = maxDescriptors()
    return readdirSync('/proc/self/fd').length + devboxes * perDevbox <= max - reserveOf(max)
  } catch (error) {
    // Reading the folder takes one as well.
    return !['EMFILE', 'ENFILE'].includes((error as NodeJS.ErrnoException).code ?? '')
  }
}

/** How many a service with that many devboxes needs. */
export const descriptorsFor = (devboxes: number): number => 64 + idle + devboxes * perDevbox

const reserveOf = (max: number) => Math.min(64, Math.floor(max / 4))
/** What a service without devboxes has open. */
const idle = 64
