import { lstat, readdir, realpath } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { SandboxBuildFailedError } from './dockerfile.ts'
import { matches } from './names.ts'

/** A file of a build context, or a folder whose contents are copied. */
export interface Source {
  /** Without links in it. */
  path: string
  /** What it is called in the context. */
  name: string
  isFolder: boolean
}

/**
 * The files and folders that the sources of a COPY name. Throws a SandboxBuildFailedError when there is none, and for
 * links out of the context, because other files of this machine are not part of a task.
 */
export const findSources = async (context: string, patterns: readonly string[]): Promise<Source[]> => {
  const found: Source[] = []
  for (const pattern of patterns) {
    const segments = pattern.split('/').filter((segment) => segment !== '' && segment !== '.')
    if (segments.includes('..')) throw new SandboxBuildFailedError(`COPY ${pattern}: leads out of the build context`)
    let paths = [context]
    for (const segment of segments) paths = (await Promise.all(paths.map((path) => below(path, segment)))).flat()
    if (paths.length === 0) throw new SandboxBuildFailedError(`COPY ${pattern}: there is no such file in environment/`)
    for (const path of paths) {
      const real = await realpath(path).catch(() => '')
      if (real !== context && !real.startsWith(context + sep))
        throw new SandboxBuildFailedError(`COPY ${relative(context, path)}: leads out of the build context`)
      found.push({ path: real, name: basename(path), isFolder: (await lstat(real)).isDirectory() })
    }
  }
  return found
}

const below = async (folder: string, segment: string): Promise<string[]> => {
  if (!/[*?[]/.test(segment)) {
    const path = join(folder, segment)
    return (await lstat(path).catch(() => undefined)) ? [path] : []
  }
  const names: string[] = await readdir(folder).catch(() => [])
  // Go's patterns say ^ where Python's say !.
  const pattern = segment.replaceAll('[^', '[!')
  return names
    .filter((name) => matches(name, pattern))
    .sort()
    .map((name) => join(folder, name))
}
