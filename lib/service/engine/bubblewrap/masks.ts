import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { SandboxSpec } from '../engine.ts'
import { isBelow, machineFolders, programFolders } from './machine-folders.ts'
import { privatePaths } from './private-paths.ts'
import { isRoot } from './privileges.ts'
import { publicEtcPaths } from './public-etc.ts'
import { hasOwnUsers } from './users.ts'

/**
 * Paths of the machine to mask in a devbox. Read at every start, since modes change.
 *
 * The kernel refuses a devbox with a user of its own whatever not everybody may read. One that runs as the service's user
 * has these masks alone: what is made private after its start stays readable.
 */
export const masksFor = async ({ dataDir, system }: Pick<SandboxSpec, 'dataDir' | 'system'>): Promise<string[]> => {
  const runsAsService = !hasOwnUsers() && (isRoot || system !== undefined)
  const seen = [...programFolders, ...(system ? [] : publicEtcPaths())]
  // The data folder first: nothing can be mounted in a folder that is masked.
  return [
    ...new Set([
      ...maskOf(dataDir, system ? machineFolders : programFolders),
      ...(runsAsService ? await privatePaths(seen) : []),
    ]),
  ]
}

const maskOf = (dataDir: string, seen: readonly string[]): string[] => {
  const path = realPath(dataDir)
  if (!seen.some((folder) => isBelow(path, realPath(folder)))) return []
  // A user of its own cannot pass a closed folder to mount anything below it.
  return [parentsOf(path).find((parent) => (statSync(parent).mode & 0o001) === 0) ?? path]
}

/** Why devboxes would see a data folder; undefined where it can be masked. */
export const dataDirProblem = (dataDir: string): string | undefined => {
  const path = realPath(dataDir)
  const seen = machineFolders.find((folder) => isBelow(realPath(folder), path))
  return seen && `The data folder ${dataDir} holds ${seen}, which devboxes see; choose a folder of its own`
}

/** From the root down. */
const parentsOf = (path: string): string[] => {
  const parent = dirname(path)
  return parent === path ? [] : [...parentsOf(parent), parent]
}

/** Of a path that need not exist. */
const realPath = (path: string): string =>
  existsSync(path) || path === dirname(path) ? realpathSync(path) : join(realPath(dirname(path)), basename(path))
