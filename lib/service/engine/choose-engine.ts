import { StartError } from '#lib/service/kit/errors.ts'
import { bubblewrap } from './bubblewrap/bubblewrap.ts'
import type { Engine, Isolation } from './engine.ts'
import { plainProcess } from './process/plain-process.ts'

/**
 * The engine of this machine. `auto` takes bubblewrap when a real probe of it works and says on stderr when it does
 * not. Throws a StartError when bubblewrap is demanded and does not work.
 */
export const chooseEngine = async (wanted: Isolation | 'auto', log: (line: string) => void): Promise<Engine> => {
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
  const engine = chooseEngine(wanted, (message) => warnings.push(message))
  // It is awaited later; until then a rejection must not count as unhandled.
  engine.catch(() => undefined)
  return { engine, warnings }
}

export type EngineChoice = ReturnType<typeof beginChoice>
