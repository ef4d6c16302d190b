import { readdirSync } from 'node:fs'
import { openFilesLimit, spareFiles } from '#lib/limits/connection-limit.ts'

/** A running devbox holds about five; one that starts has up to three more. */
const perDevbox = 8

/**
 * Whether so many devboxes can still start. They leave what connections leave to the rest of the process, and as many again
 * for connections. Node raises its own soft limit to the hard one.
 */
export const hasDescriptorsFor = (devboxes: number): boolean => {
  const max = openFilesLimit()
  try {
    return readdirSync('/proc/self/fd').length + devboxes * perDevbox <= max - 2 * spareFiles(max)
  } catch (error) {
    // Reading the folder takes one as well. Without /proc the number is unknown.
    return !['EMFILE', 'ENFILE'].includes((error as NodeJS.ErrnoException).code ?? '')
  }
}

/** How many a service with that many devboxes needs. */
export const descriptorsFor = (devboxes: number): number =>
  openWhenIdle + devboxes * perDevbox + 2 * spareFiles(Number.POSITIVE_INFINITY)

const openWhenIdle = 64
