import { type Group, maxProcesses } from './cgroup.ts'
import type { Limits } from './engine.ts'

const lookEveryMs = 500
/** A build that has too many jobs is refused some; only what forks in a loop is refused as many in one look. */
const stormRefusals = 50
const heldCores = 0.05
/** Without any refusal: ten seconds, because a fork bomb waits between its attempts. */
const calmLooks = 20

/**
 * Holds a devbox to a twentieth of a core while it asks for more processes than it may have, over and over. Each attempt
 * and each end of a process takes locks that all processes of the machine wait for: a fork bomb at its limits had the
 * calls of other accounts take 3 to 7 times as long, held like this about as long as without it. Returns what ends it.
 */
export const watchForks = (
  group: Pick<Group, 'refusedProcesses' | 'limitCpu'>,
  limits: Limits,
  tell: (sentence: string) => void,
): (() => void) => {
  let refused = 0
  let looksToGo = 0
  const look = () => {
    const before = refused
    refused = group.refusedProcesses()
    const isStorm = refused - before >= stormRefusals
    if (isStorm && looksToGo === 0) {
      group.limitCpu(Math.min(heldCores, limits.cpuCores))
      tell(
        `It starts more than the ${maxProcesses(limits)} processes it may have: it gets 5 % of a core until it stops`,
      )
    }
    if (isStorm) looksToGo = calmLooks
    else if (looksToGo > 0 && refused > before) looksToGo = calmLooks
    else if (looksToGo > 0 && --looksToGo === 0) {
      group.limitCpu(limits.cpuCores)
      tell('It no longer starts more processes than it may have: it gets all of its processor time again')
    }
  }
  const timer = setInterval(look, lookEveryMs).unref()
  return () => clearInterval(timer)
}
