import { join, resolve } from 'node:path'
import { clearInstalls } from '#lib/service/benchmarks/agents/installs.ts'
import { clearEnvironments } from '#lib/service/benchmarks/environments.ts'
import { runningService } from '#lib/service/store/data-dir.ts'
import type { CommandLine } from './command-line.ts'

/** Removes what trials share and can make anew: built environments, but for those in use now, and installs of agents. */
export const clearBuilt = async ({ dataDir }: CommandLine) => {
  const isRunning = runningService(dataDir) !== undefined
  const at = (name: string) => join(resolve(dataDir), name)
  const { removed, used } = await clearEnvironments(at('environments'), at('devboxes'), isRunning)
  const environments = removed.filter((name) => name.startsWith('environment-')).length
  const installs = await clearInstalls(at('agent-installs'), isRunning)
  const counted = [
    environments === 1 ? '1 built environment' : `${environments} built environments`,
    installs === 1 ? '1 install of an agent' : `${installs} installs of agents`,
  ]
  const stay = used === 1 ? '1 folder is in use and stays' : `${used} folders are in use and stay`
  console.log(`${counted.join(' and ')} removed${used > 0 ? `; ${stay}` : ''}`)
}
