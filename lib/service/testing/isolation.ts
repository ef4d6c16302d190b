import { describe } from 'vitest'
import { bubblewrap } from '#lib/service/engine/bubblewrap/bubblewrap.ts'
import type { Isolation } from '#lib/service/engine/engine.ts'

const problem = await bubblewrap.problem()

export const strongestIsolation: Isolation = problem === undefined ? 'bubblewrap' : 'none'

/** Runs a suite once per isolation, skipping bubblewrap if it does not work here. */
export const describeUnderEachIsolation = (name: string, suite: (isolation: Isolation) => void): void => {
  for (const isolation of ['none', 'bubblewrap'] as const)
    describe.runIf(isolation === 'none' || problem === undefined)(`${name} ${isolation}`, () => suite(isolation))
}
