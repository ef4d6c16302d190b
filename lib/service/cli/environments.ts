import { join, resolve } from 'node:path'
import { clearInstalls } from '#lib/service/benchmarks/agents/installs.ts'
import {
  cachedEnvironments,
  clearEnvironments,
  environmentPrefix,
  environmentsInUse,
} from '#lib/service/benchmarks/environments.ts'
import { countOf, sizeText } from '#lib/service/kit/amounts.ts'
import { runningService } from '#lib/service/store/data-dir.ts'
import type { CommandLine } from './command-line.ts'

export const listBuilt = async ({ dataDir }: CommandLine) => {
  const at = (name: string) => join(resolve(dataDir), name)
  const inUse = await environmentsInUse(at('devboxes'))
  const environments = await cachedEnvironments(at('environments'))
  for (const { name, bytes, usedMs, builtFor } of environments)
    console.log(
      [
        sizeText(bytes).padStart(10),
        inUse.has(join(at('environments'), name))
          ? 'in use now          '
          : `${new Date(usedMs).toISOString().slice(0, 19)}Z`,
        builtFor ?? name,
      ].join('  '),
    )
  const bytes = environments.reduce((sum, each) => sum + each.bytes, 0)
  console.log(`${countOf(environments.length, 'built environment')}, ${sizeText(bytes)}`)
}

export const clearBuilt = async ({ dataDir }: CommandLine) => {
  const isRunning = runningService(dataDir) !== undefined
  const at = (name: string) => join(resolve(dataDir), name)
  const { removed, bytes, used } = await clearEnvironments(at('environments'), at('devboxes'), isRunning)
  const environments = removed.filter((name) => name.startsWith(environmentPrefix)).length
  const installs = await clearInstalls(at('agent-installs'), isRunning)
  const counted = [
    `${countOf(environments, 'built environment')} (${sizeText(bytes)})`,
    countOf(installs, 'agent install'),
  ]
  const keptCount = countOf(used, 'folder')
  console.log(`Deleted ${counted.join(' and ')}${used > 0 ? `; kept ${keptCount} in use` : ''}`)
}
