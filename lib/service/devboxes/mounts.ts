import { type Dirent, existsSync, lstatSync, readFileSync } from 'node:fs'
import { copyFile, lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isRootFolder, type System } from '#lib/service/engine/engine.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { namesIn } from '#lib/service/store/lost-and-found.ts'
import { removeFolder } from './disk.ts'

export interface Mount {
  field: string
  folder: (typeof diskFolders)[number]
  path: string
  content: string
}

/** Folders that survive suspend. Unspecified: snapshots contain the same. */
export const diskFolders = ['home', 'tmp'] as const

/** Accepts paths relative to home, `~/x`, or below `/home/user/` or `/tmp/`. Throws 400 for others. */
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
    throw invalidMount(field, `${JSON.stringify(path)} must be a file below the home directory or /tmp`)
  return { field, folder, path: file, content }
}

/** Stores the mounts for `makeDisk`, since they may have to wait for a snapshot. Throws 400 for conflicting paths. */
export const stageMounts = async (folder: string, mounts: readonly Mount[]): Promise<void> => {
  for (const each of mounts) {
    const file = join(staged(folder), each.folder, each.path)
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      await writeFile(file, each.content)
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (!['EEXIST', 'EISDIR', 'ENOTDIR', 'ENAMETOOLONG'].includes(code)) throw error
      throw invalidMount(each.field, `Could not create ${JSON.stringify(each.path)} (${code})`)
    }
  }
}

/** `home` is renamed into place last, so an interrupted run starts over. */
export const makeDisk = async (folder: string, restore?: (to: string) => Promise<void>): Promise<void> => {
  const home = join(folder, 'home')
  const unfinished = join(folder, 'new')
  const fresh = (name: (typeof diskFolders)[number]) => join(unfinished, name)
  if (!existsSync(home)) {
    await removeFolder(unfinished)
    await restore?.(unfinished)
    for (const name of diskFolders) {
      await mkdir(fresh(name), { recursive: true, mode: 0o700 })
      await copyOver(join(staged(folder), name), fresh(name))
    }
    await writeFile(join(fresh('home'), '.bashrc'), bashrc, { flag: 'wx' }).catch(unlessExists)
    await removeFolder(join(folder, 'tmp'))
    await rename(fresh('tmp'), join(folder, 'tmp'))
    await rename(fresh('home'), home)
  }
  await mkdir(join(folder, 'tmp'), { recursive: true, mode: 0o700 })
  for (const leftover of [unfinished, staged(folder)]) await removeFolder(leftover)
}

export const makeSystem = async (folder: string, { base, layers }: Omit<System, 'own'>): Promise<void> => {
  await mkdir(join(folder, systemFolder), { mode: 0o700 })
  await writeFile(join(folder, systemFolder, systemNote), JSON.stringify({ base, layers }))
}

export const systemOf = (folder: string): System | undefined => {
  const own = join(folder, systemFolder)
  const note = join(own, systemNote)
  return existsSync(note) ? { ...(JSON.parse(readFileSync(note, 'utf8')) as Omit<System, 'own'>), own } : undefined
}

export const systemsBelow = async (folder: string): Promise<Omit<System, 'own'>[]> => {
  const systems: Omit<System, 'own'>[] = []
  for (const name of await readdir(folder).catch(() => [])) {
    const note = await readFile(join(folder, name, systemFolder, systemNote), 'utf8').catch(() => undefined)
    if (note !== undefined) systems.push(JSON.parse(note))
  }
  return systems
}

export const makeRoot = async (folder: string, names: readonly string[], network?: 'none'): Promise<void> => {
  for (const name of names) {
    if (!isRootFolder(name)) throw new Error(`A devbox can't have its own /${name} folder`)
    await mkdir(join(folder, 'root', name), { recursive: true, mode: 0o700 })
  }
  if (network === 'none') await writeFile(join(folder, 'root', noNetwork), '')
}

export const rootOf = (folder: string): { folder: string; network?: 'none' } | undefined => {
  const root = join(folder, 'root')
  if (!existsSync(root)) return undefined
  return { folder: root, ...(existsSync(join(root, noNetwork)) && { network: 'none' }) }
}

export const removeDisk = async (folder: string): Promise<void> => {
  const names = await readdir(folder).catch(() => [])
  for (const name of names) if (diskNames.includes(name)) await removeFolder(join(folder, name))
}

export const isUnfinished = (folder: string): boolean => {
  const names = namesIn(folder)
  return lstatSync(folder).isDirectory() && names.every((name) => foldersBeforeStart.includes(name))
}

const systemFolder = 'system'
const systemNote = 'made-of.json'
const foldersBeforeStart = ['mounts', 'root', systemFolder]
const diskNames = ['home', 'tmp', 'run', 'root', systemFolder, 'new', 'mounts']
const noNetwork = '.no-network'
const staged = (folder: string) => join(folder, 'mounts')

/** Copies files over those in `to`. Never follows a symlink in `to`: a devbox may have created it. */
const copyOver = async (from: string, to: string): Promise<void> => {
  const entries: Dirent[] = await readdir(from, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const target = join(to, entry.name)
    const there = await lstat(target).catch(() => undefined)
    if (there && there.isDirectory() !== entry.isDirectory())
      if (there.isDirectory() || !there.isSymbolicLink())
        throw new Error(`The snapshot has something else at the path of a mounted file: ${entry.name}`)
    if (there && !there.isDirectory()) await rm(target)
    if (!entry.isDirectory()) await copyFile(join(from, entry.name), target)
    else {
      if (!there?.isDirectory()) await mkdir(target, { mode: 0o755 })
      await copyOver(join(from, entry.name), target)
    }
  }
}

const unlessExists = (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EEXIST') throw error
}

const invalidMount = (field: string, problem: string) =>
  new ServiceError('invalid_argument', `${field}: ${problem}`, { field })

const bashrc = String.raw`PS1='\[\e[1;32m\]user@$DEVDECK_DEVBOX_NAME\[\e[0m\]:\[\e[1;34m\]\w\[\e[0m\]$ '
alias ls='ls --color=auto' grep='grep --color=auto'
`
