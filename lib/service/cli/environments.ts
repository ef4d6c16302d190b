import { resolve } from 'node:path'
import { clearEnvironments } from '#lib/service/benchmarks/environments.ts'
import type { CommandLine } from './command-line.ts'

/** Removes the environments of tasks that were built, but for those that trials run in now. */
export const clearBuilt = async ({ dataDir }: CommandLine) => {
  const { removed, used } = await clearEnvironments(resolve(dataDir, 'environments'), resolve(dataDir, 'devboxes'))
  const environments = removed.filter((name) => name.startsWith('environment-')).length
  console.log(
    `${environments === 1 ? '1 built environment' : `${environments} built environments`} removed${used > 0 ? `; ${used} folders are in use and stay` : ''}`,
  )
}
