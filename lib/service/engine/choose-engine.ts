import { StartError } from '#lib/service/kit/errors.ts'
import { bubblewrap } from './bubblewrap/bubblewrap.ts'
import type { Engine, Isolation } from './engine.ts'
import { plainProcess } from './process/plain-process.ts'

/** `auto` uses bubblewrap if a probe succeeds. Throws a StartError if a required bubblewrap doesn't work. */
const chooseEngine = async (requested: Isolation | 'auto', log: (line: string) => void): Promise<Engine> => {
  if (requested !== 'none') {
    const problem = await bubblewrap.problem()
    if (problem === undefined) return bubblewrap
    if (requested === 'bubblewrap') throw new StartError(`bubblewrap doesn't work on this host: ${problem}`)
    log(`Devboxes are NOT isolated: bubblewrap doesn't work on this host (${problem})`)
    return plainProcess
  }
  log('Devboxes are NOT isolated: they run as plain processes of this user')
  return plainProcess
}

export const probeEngine = (requested: Isolation | 'auto') => {
  const warnings: string[] = []
  const engine = chooseEngine(requested, (message) => warnings.push(message))
  // Awaited later.
  engine.catch(() => undefined)
  return { engine, warnings }
}

export type EngineProbe = ReturnType<typeof probeEngine>
