import { StartError } from '#lib/service/kit/errors.ts'
import { bubblewrap } from './bubblewrap.ts'
import { plainProcess } from './plain-process.ts'
import type { Isolation, Sandbox } from './sandbox.ts'

/**
 * The sandbox of this machine. `auto` takes bubblewrap when a real probe of it works and says on stderr when it does
 * not. Throws a StartError when bubblewrap is demanded and does not work.
 */
export const chooseSandbox = async (wanted: Isolation | 'auto', log: (line: string) => void): Promise<Sandbox> => {
  if (wanted !== 'none') {
    const problem = await bubblewrap.problem()
    if (problem === undefined) return bubblewrap
    if (wanted === 'bubblewrap') throw new StartError(`bubblewrap does not work here: ${problem}`)
    log(`devboxes are NOT isolated: bubblewrap does not work here (${problem})`)
    return plainProcess
  }
  log('devboxes are NOT isolated: they run as plain processes of this user')
  return plainProcess
}

/** Begins the choice early, since it probes the machine. Its warnings are collected, to be logged later. */
export const beginChoice = (wanted: Isolation | 'auto') => {
  const warnings: string[] = []
  const sandbox = chooseSandbox(wanted, (message) => warnings.push(message))
  // It is awaited later; until then a rejection must not count as unhandled.
  sandbox.catch(() => undefined)
  return { sandbox, warnings }
}

export type SandboxChoice = ReturnType<typeof beginChoice>
