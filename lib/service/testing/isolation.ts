import { describe } from 'vitest'
import { bubblewrapProblem } from '#lib/service/engine/bubblewrap/bubblewrap.ts'
import type { LocalIsolation } from '#lib/service/engine/local/launch.ts'

const problem = await bubblewrapProblem()

export const strongestIsolation: LocalIsolation = problem === undefined ? 'bubblewrap' : 'none'

/** Runs a suite once per isolation, skipping bubblewrap if it does not work here. */
export const describeUnderEachIsolation = (name: string, suite: (isolation: LocalIsolation) => void): void => {
  for (const isolation of ['none', 'bubblewrap'] as const)
    describe.runIf(isolation === 'none' || problem === undefined)(`${name} ${isolation}`, () => suite(isolation))
}
