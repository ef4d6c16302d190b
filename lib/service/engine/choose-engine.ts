import { StartError } from '#lib/service/kit/errors.ts'
import type { BoxEngine } from './box.ts'
import { bubblewrapProblem, createBubblewrap } from './bubblewrap/bubblewrap.ts'
import type { LocalIsolation } from './local/launch.ts'
import type { LocalHost } from './local/local-engine.ts'
import { createPlainProcess } from './process/plain-process.ts'

/** `auto` uses bubblewrap if a probe succeeds. Throws a StartError if a required bubblewrap doesn't work. */
const chooseEngine = async (requested: LocalIsolation | 'auto', log: (line: string) => void) => {
  if (requested !== 'none') {
    const problem = await bubblewrapProblem()
    if (problem === undefined) return createBubblewrap
    if (requested === 'bubblewrap') throw new StartError(`bubblewrap doesn't work on this host: ${problem}`)
    log(`Devboxes are NOT isolated: bubblewrap doesn't work on this host (${problem})`)
    return createPlainProcess
  }
  log('Devboxes are NOT isolated: they run as plain processes of this user')
  return createPlainProcess
}

/** Probes at once; `create` resolves once the service has its data folder. */
export const probeEngine = (requested: LocalIsolation | 'auto') => {
  const warnings: string[] = []
  const chosen = chooseEngine(requested, (message) => warnings.push(message))
  // Awaited later.
  chosen.catch(() => undefined)
  return { create: async (host: LocalHost): Promise<BoxEngine> => (await chosen)(host), chosen, warnings }
}

export type EngineProbe = ReturnType<typeof probeEngine>
