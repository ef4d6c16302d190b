import { createHash } from 'node:crypto'
import { createReadStream, type Stats } from 'node:fs'
import { lstat, readdir, readFile, readlink, realpath, stat } from 'node:fs/promises'
import { basename, isAbsolute, join, sep } from 'node:path'

/** Undefined if missing or outside of the roots, so that an account cannot find out what else is on this machine. */
export const findFolder = async (path: string, roots: readonly string[]): Promise<string | undefined> =>
  (await findInside(path, roots, (stats) => stats.isDirectory()))?.path

export const findFile = (path: string, roots: readonly string[]) => findInside(path, roots, (stats) => stats.isFile())

const findInside = async (path: string, roots: readonly string[], isRight: (stats: Stats) => boolean) => {
  if (path.includes('\0')) return undefined
  for (const root of roots) {
    const realRoot = await realpath(root).catch(() => undefined)
    if (realRoot === undefined) continue
    const found = await realpath(isAbsolute(path) ? path : join(realRoot, path)).catch(() => undefined)
    if (found === undefined || !isBelow(found, realRoot)) continue
    const stats = await stat(found)
    if (isRight(stats)) return { path: found, size: stats.size }
  }
  return undefined
}

const isBelow = (path: string, root: string) => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)

export const taskFolders = async (dataset: string): Promise<string[]> => {
  const entries = await readdir(dataset, { withFileTypes: true })
  const folders = await Promise.all(
    entries.map(async (entry) => {
      // A symbolic link could leave the dataset.
      if (!entry.isDirectory()) return []
      return (await isThere(join(dataset, entry.name, 'task.toml'))) ? [entry.name] : []
    }),
  )
  return folders.flat().sort((a, b) => (a < b ? -1 : 1))
}

export const isTaskFolder = (path: string): Promise<boolean> => isThere(join(path, 'task.toml'))

const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

const maxReadWholeBytes = 1024 * 1024

/** Unspecified: the maximum number of files of a task. */
const maxFiles = 20_000

export const checksumOf = async (path: string): Promise<string> => {
  const hash = createHash('sha256')
  let files = 0
  const add = async (folder: string, prefix: string) => {
    const names = (await readdir(folder)).sort((a, b) => (a < b ? -1 : 1))
    for (const name of names) {
      if (++files > maxFiles) throw new Error(`${basename(path)} has more than ${maxFiles} files`)
      const file = join(folder, name)
      const stats = await lstat(file)
      const mode = stats.mode & 0o100 ? 'x' : '-'
      if (stats.isDirectory()) await add(file, `${prefix}${name}/`)
      else if (stats.isSymbolicLink()) hash.update(`${prefix}${name}\0l\0${await readlink(file)}\0`)
      else if (stats.isFile()) {
        hash.update(`${prefix}${name}\0${mode}\0${stats.size}\0`)
        if (stats.size <= maxReadWholeBytes) hash.update(await readFile(file))
        else for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
      }
    }
  }
  await add(path, '')
  return hash.digest('hex')
}
