import { meanOf } from './means.ts'

/**
 * How long the rest takes if it behaves as what has finished, `slots` at a time: as if work were fluid, left * mean / slots,
 * and by whole waves, ceil(left / slots) * mean. Null until something has finished.
 */
export const etaRange = (
  left: number,
  slots: number,
  finishedMs: readonly number[],
): { fluid: number; waves: number } | null => {
  const mean = meanOf(finishedMs)
  if (mean === null || slots < 1) return null
  return { fluid: (left * mean) / slots, waves: Math.ceil(left / slots) * mean }
}
