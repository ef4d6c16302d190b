import { describe } from 'vitest'
import { bubblewrap } from '#lib/service/engine/bubblewrap/bubblewrap.ts'
import type { Isolation } from '#lib/service/engine/engine.ts'

const problem = await bubblewrap.problem()

/** Of those that work on this machine. */
export const strongestIsolation: Isolation = problem === undefined ? 'bubblewrap' : 'none'

/** A suite once for each sandbox; the one that does not work on this machine is counted as skipped. */
export const describeUnderEachIsolation = (name: string, suite: (isolation: Isolation) => void): void => {
  for (const isolation of ['none', 'bubblewrap'] as const)
    describe.runIf(isolation === 'none' || problem === undefined)(`${name} ${isolation}`, () => suite(isolation))
}
