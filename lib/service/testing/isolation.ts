import { describe } from 'vitest'
import type { Isolation } from '#lib/service/engine/box.ts'
import { bubblewrapProblem } from '#lib/service/engine/bubblewrap/bubblewrap.ts'
import type { LocalIsolation } from '#lib/service/engine/local/launch.ts'
import { hasDocker } from './has-docker.ts'
import { runsLongSwarmTests } from './has-swarm.ts'

const problem = await bubblewrapProblem()

export const strongestIsolation: LocalIsolation = problem === undefined ? 'bubblewrap' : 'none'

const works = { none: true, bubblewrap: problem === undefined, container: hasDocker, swarm: runsLongSwarmTests }

export const inContainer = (isolation: Isolation): boolean => isolation === 'container' || isolation === 'swarm'

/** Runs a suite once per isolation, skipping those that don't work here. */
export const describeUnderEachIsolation = (name: string, suite: (isolation: Isolation) => void): void => {
  for (const isolation of ['none', 'bubblewrap', 'container', 'swarm'] as const)
    describe.runIf(works[isolation])(`${name} ${isolation}`, () => suite(isolation))
}

/**
 * The same for what happens inside a running devbox. Containers of a swarm are used as all others are, so with a swarm
 * the suite doesn't run on a single engine as well.
 */
export const describeInEachBox = (name: string, suite: (isolation: Isolation) => void): void => {
  for (const isolation of ['none', 'bubblewrap', works.swarm ? 'swarm' : 'container'] as const)
    describe.runIf(works[isolation])(`${name} ${isolation}`, () => suite(isolation))
}

/** The same for engines that run on this host. */
export const describeUnderEachLocalIsolation = (name: string, suite: (isolation: LocalIsolation) => void): void => {
  for (const isolation of ['none', 'bubblewrap'] as const)
    describe.runIf(works[isolation])(`${name} ${isolation}`, () => suite(isolation))
}
