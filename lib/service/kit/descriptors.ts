import { readdirSync } from 'node:fs'
import { openFilesLimit, spareFiles } from '#lib/limits/connection-limit.ts'

/** A running devbox uses about five, a starting one three more. */
const perDevbox = 8

export const hasDescriptorsFor = (devboxes: number): boolean => {
  const max = openFilesLimit()
  try {
    return readdirSync('/proc/self/fd').length + devboxes * perDevbox <= max - 2 * spareFiles(max)
  } catch (error) {
    // Listing needs a descriptor too. Without /proc the number is unknown.
    return !['EMFILE', 'ENFILE'].includes((error as NodeJS.ErrnoException).code ?? '')
  }
}

export const descriptorsFor = (devboxes: number): number =>
  openWhenIdle + devboxes * perDevbox + 2 * spareFiles(Number.POSITIVE_INFINITY)

const openWhenIdle = 64
