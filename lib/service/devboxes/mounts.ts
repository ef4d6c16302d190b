import { type Dirent, existsSync, lstatSync, readFileSync } from 'node:fs'
import { copyFile, lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isRootFolder, type System } from '#lib/service/engine/engine.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { namesIn } from '#lib/service/store/lost-and-found.ts'
import { removeTree } from './disk.ts'

/** A file a devbox begins with. */
export interface Mount {
  /** The field of the input. */
  field: string
  folder: (typeof diskFolders)[number]
  /** Below that folder. */
  path: string
  content: string
}

/**
 * The disk of a devbox: what of its folder stays when it is suspended. Unspecified: what a snapshot holds. It is the same,
 * so that a devbox made from one finds what a resumed one would.
 */
export const diskFolders = ['home', 'tmp'] as const

/** Relative to the home directory, as `~/x`, or below `/home/user/` or `/tmp/`. Throws 400 for any other place. */
export const mountAt = (field: string, path: string, content: string): Mount => {
  const folder = path.startsWith('/tmp/') ? 'tmp' : 'home'
  const relative = path.replace(/^(~|\/home\/user|\/tmp)\//, '')
  const segments = relative.split('/')
  const file = segments.filter((segment) => segment !== '' && segment !== '.').join('/')
  if (
    relative.startsWith('/') ||
    path.includes('\0') ||
    segments.includes('..') ||
    ['', '~'].includes(file) ||
    path.endsWith('/')
  )
    throw refusal(field, `${JSON.stringify(path)} is not a file below the home directory or /tmp`)
  return { field, folder, path: file, content }
}

/**
 * Puts the mounts of a new devbox aside in its folder, for `makeDisk`: they may have to wait for a snapshot. Throws 400
 * when they cannot all be.
 */
export const stageMounts = async (folder: string, mounts: readonly Mount[]): Promise<void> => {
  for (const each of mounts) {
    const file = join(staged(folder), each.folder, each.path)
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      await writeFile(file, each.content)
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      // Two paths that need one place as a file and as a folder, and names that are too long.
      if (!['EEXIST', 'EISDIR', 'ENOTDIR', 'ENAMETOOLONG'].includes(code)) throw error
      throw refusal(each.field, `${JSON.stringify(each.path)} cannot be made (${code})`)
    }
  }
}

/**
 * Makes `home` and `tmp` in a devbox's folder: empty, or as `restore` makes them from a snapshot. `home` gets its name
 * last, when the disk is complete, so that after a crash this either does nothing or begins anew.
 */
export const makeDisk = async (folder: string, restore?: (home: string) => Promise<void>): Promise<void> => {
  const home = join(folder, 'home')
  const unfinished = join(folder, 'new')
  const fresh = (name: (typeof diskFolders)[number]) => join(unfinished, name)
  if (!existsSync(home)) {
    await removeFolder(unfinished)
    await restore?.(fresh('home'))
    for (const name of diskFolders) {
      await mkdir(fresh(name), { recursive: true, mode: 0o700 })
      await layOver(join(staged(folder), name), fresh(name))
    }
    // Unless there is one already, from the snapshot or a mount.
    await writeFile(join(fresh('home'), '.bashrc'), bashrc, { flag: 'wx' }).catch(unlessExists)
    await removeFolder(join(folder, 'tmp'))
    await rename(fresh('tmp'), join(folder, 'tmp'))
    await rename(fresh('home'), home)
  }
  await mkdir(join(folder, 'tmp'), { recursive: true, mode: 0o700 })
  for (const leftover of [unfinished, staged(folder)]) await removeFolder(leftover)
}

/** Notes what the system of a new devbox begins with, where it is to have one of its own. */
export const makeSystem = async (folder: string, { base, layers }: Omit<System, 'own'>): Promise<void> => {
  await mkdir(join(folder, systemFolder), { mode: 0o700 })
  await writeFile(join(folder, systemFolder, systemNote), JSON.stringify({ base, layers }))
}

/** What `makeSystem` noted; undefined when it did not. */
export const systemOf = (folder: string): System | undefined => {
  const own = join(folder, systemFolder)
  const note = join(own, systemNote)
  return existsSync(note) ? { ...(JSON.parse(readFileSync(note, 'utf8')) as Omit<System, 'own'>), own } : undefined
}

/** What `makeSystem` noted of each devbox whose folder is in `folder`, and whose disk has not been removed. */
export const systemsBelow = async (folder: string): Promise<Omit<System, 'own'>[]> => {
  const systems: Omit<System, 'own'>[] = []
  for (const name of await readdir(folder).catch(() => [])) {
    const note = await readFile(join(folder, name, systemFolder, systemNote), 'utf8').catch(() => undefined)
    if (note !== undefined) systems.push(JSON.parse(note))
  }
  return systems
}

/** Makes the folders a new devbox is to have at `/`, and notes beside them that it is to have no network. */
export const makeRoot = async (folder: string, names: readonly string[], network?: 'none'): Promise<void> => {
  for (const name of names) {
    if (!isRootFolder(name)) throw new Error(`A devbox cannot have a folder /${name} of its own`)
    await mkdir(join(folder, 'root', name), { recursive: true, mode: 0o700 })
  }
  if (network === 'none') await writeFile(join(folder, 'root', noNetwork), '')
}

/** What `makeRoot` made, as every start of the devbox finds it; undefined when it did not. */
export const rootOf = (folder: string): { folder: string; network?: 'none' } | undefined => {
  const root = join(folder, 'root')
  if (!existsSync(root)) return undefined
  return { folder: root, ...(existsSync(join(root, noNetwork)) && { network: 'none' }) }
}

/** Removes the disk of a devbox that has ended, and what a start that was broken off left of it. */
export const removeDisk = async (folder: string): Promise<void> => {
  const names = await readdir(folder).catch(() => [])
  for (const name of names) if (diskNames.includes(name)) await removeFolder(join(folder, name))
}

/** Whether the folder is that of a devbox whose creation was interrupted before its record was stored and it could run. */
export const isUnfinished = (folder: string): boolean => {
  const names = namesIn(folder)
  return lstatSync(folder).isDirectory() && names.every((name) => beforeStart.includes(name))
}

/** Removes a folder that devboxes wrote to, if there is one. Deep paths and folders without permissions stop Node. */
export const removeFolder = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => removeTree(path))

const systemFolder = 'system'
const systemNote = 'made-of.json'
const beforeStart = ['mounts', 'root', systemFolder]
const diskNames = ['home', 'tmp', 'run', 'root', systemFolder, 'new', 'mounts']
// No name of a folder at `/`.
const noNetwork = '.no-network'
const staged = (folder: string) => join(folder, 'mounts')

/**
 * Copies files below `from` over those below `to`. A link in `to`, which a devbox made, is never followed: it could lead
 * out of the devbox.
 */
const layOver = async (from: string, to: string): Promise<void> => {
  const entries: Dirent[] = await readdir(from, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const target = join(to, entry.name)
    const there = await lstat(target).catch(() => undefined)
    if (there && there.isDirectory() !== entry.isDirectory())
      if (there.isDirectory() || !there.isSymbolicLink())
        throw new Error(`A file is to be mounted where the snapshot has something else: ${entry.name}`)
    if (there && !there.isDirectory()) await rm(target)
    if (!entry.isDirectory()) await copyFile(join(from, entry.name), target)
    else {
      if (!there?.isDirectory()) await mkdir(target, { mode: 0o755 })
      await layOver(join(from, entry.name), target)
    }
  }
}

const unlessExists = (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EEXIST') throw error
}

const refusal = (field: string, problem: string) =>
  new ServiceError('invalid_argument', `${field}: ${problem}`, { field })

const bashrc = String.raw`PS1='\[\e[1;32m\]user@$DEVDECK_DEVBOX_NAME\[\e[0m\]:\[\e[1;34m\]\w\[\e[0m\]$ '
alias ls='ls --color=auto' grep='grep --color=auto'
`
