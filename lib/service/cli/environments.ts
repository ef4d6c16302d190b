import { join, resolve } from 'node:path'
import { clearInstalls } from '#lib/service/benchmarks/agents/installs.ts'
import {
  cachedEnvironments,
  clearEnvironments,
  environmentPrefix,
  environmentsInUse,
} from '#lib/service/benchmarks/environments.ts'
import { builtImages, taskImageLabel, taskImagesFile } from '#lib/service/benchmarks/harbor/images/task-images.ts'
import { countOf, sizeText } from '#lib/service/kit/amounts.ts'
import { runningService } from '#lib/service/store/data-dir.ts'
import type { CommandLine } from './command-line.ts'

export const listBuilt = async ({ dataDir }: CommandLine) => {
  const at = (name: string) => join(resolve(dataDir), name)
  const inUse = await environmentsInUse(at('devboxes'))
  const environments = await cachedEnvironments(at('environments'))
  for (const { name, bytes, usedMs, builtFor } of environments) {
    const isUsed = inUse.has(join(at('environments'), name))
    const used = isUsed ? 'in use now'.padEnd(20) : `${new Date(usedMs).toISOString().slice(0, 19)}Z`
    console.log(`${sizeText(bytes).padStart(10)}  ${used}  ${builtFor ?? name}`)
  }
  const images = Object.values(builtImages(at(taskImagesFile)))
  for (const { bytes, usedMs, builtFor } of images)
    console.log(`${sizeText(bytes).padStart(10)}  ${new Date(usedMs).toISOString().slice(0, 19)}Z  ${builtFor} (image)`)
  environments.push(...images.map((image) => ({ name: '', ...image })))
  const bytes = environments.reduce((sum, each) => sum + each.bytes, 0)
  console.log(`${countOf(environments.length, 'built environment')}, ${sizeText(bytes)}`)
}

export const clearBuilt = async ({ dataDir }: CommandLine) => {
  const isRunning = runningService(dataDir) !== undefined
  const at = (name: string) => join(resolve(dataDir), name)
  const { removed, bytes, used } = await clearEnvironments(at('environments'), at('devboxes'), isRunning)
  const environments = removed.filter((name) => name.startsWith(environmentPrefix)).length
  const installs = await clearInstalls(at('agent-installs'), isRunning)
  const deleted = `${countOf(environments, 'built environment')} (${sizeText(bytes)}) and ${countOf(installs, 'agent install')}`
  const images = Object.keys(builtImages(at(taskImagesFile))).length
  console.log(`Deleted ${deleted}${used > 0 ? `; kept ${countOf(used, 'folder')} in use` : ''}`)
  if (images > 0)
    console.log(
      `${countOf(images, 'image')} of the container engine remain; remove them with: docker image prune --all --filter label=${taskImageLabel}`,
    )
}
