import { constants, type Dirent, existsSync } from 'node:fs'
import { copyFile, lstat, mkdir, readdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { removeFolder } from '#lib/service/kit/remove-folder.ts'
import type { Disks, Origin, System } from '../box.ts'
import { isRootFolder } from '../root-folders.ts'
import { copyFolders, measure } from './disk-tools.ts'
import type { LocalIsolation } from './launch.ts'

export interface DiskFolders {
  folderOf: (devboxId: string) => string
  snapshotFolderOf: (snapshotId: string) => string
}

interface LocalDisks extends Disks {
  make(folder: string, origin: Origin, signal: AbortSignal): Promise<void>
}

/** Folders that survive suspend. Unspecified: snapshots contain the same. */
const diskFolders = ['home', 'tmp'] as const
const systemFolder = 'system'
/** Everything a devbox can write to, including what suspend deletes. */
const writableFolders = [...diskFolders, 'run', 'root', systemFolder]

// Unspecified: copy timeout. A devbox can delay its copy on purpose while others wait.
const maxCopyMs = 60 * 60 * 1000

export const systemOf = (origin: Origin): Omit<System, 'own'> | undefined =>
  origin.kind === 'system' || origin.kind === 'blueprint' ? origin.system : undefined

export const ownSystemOf = (folder: string): string => join(folder, systemFolder)

export const createLocalDisks = (
  isolation: LocalIsolation,
  { serviceId, folderOf, snapshotFolderOf }: DiskFolders & { serviceId: string },
): LocalDisks => {
  const how = (signal: AbortSignal, copies = 'snapshots') => ({
    isolation,
    marks: { DEVDECK_SERVICE_ID: serviceId, DEVDECK_COPIES: copies },
    signal,
  })

  const copy = async (from: string, to: string, signal: AbortSignal) => {
    const tooLong = AbortSignal.timeout(maxCopyMs)
    await mkdir(to, { recursive: true, mode: 0o700 })
    const copied = copyFolders({ from: existing(from, diskFolders), to, ...how(AbortSignal.any([signal, tooLong])) })
    await copied.catch((error: unknown) => {
      throw tooLong.aborted && !signal.aborted ? failed('Copying the disk timed out') : error
    })
    if (!existsSync(join(to, 'home'))) throw failed('The devbox has no home directory')
  }

  return {
    async make(folder, origin, signal) {
      if (origin.kind === 'image') throw failed("This engine can't run images")
      if (isolation === 'none' && systemOf(origin))
        throw failed("Devboxes with their own system need bubblewrap, which this service doesn't use")
      if (origin.kind === 'root' || origin.kind === 'system') await makeRoot(join(folder, 'root'), origin.root)
      if (systemOf(origin)) await mkdir(ownSystemOf(folder), { recursive: true, mode: 0o700 })
      await makeDisk(folder, async (to) => {
        const source = origin.kind === 'blueprint' ? origin.disk : origin.kind === 'snapshot' ? origin : undefined
        if (!source) return
        const from = 'folder' in source ? source.folder : snapshotFolderOf(source.snapshotId)
        if (!existsSync(from)) throw failed(`The data of ${basename(from)} is missing from the data folder`)
        await copy(from, to, signal)
      })
    },
    async snapshot(devboxId, snapshotId, signal) {
      const to = snapshotFolderOf(snapshotId)
      await copy(folderOf(devboxId), to, signal)
      const { sizeBytes } = await measure([to], how(signal))
      return { sizeBytes }
    },
    hasSnapshot: async (snapshotId) => existsSync(snapshotFolderOf(snapshotId)),
    removeSnapshot: (snapshotId) => removeFolder(snapshotFolderOf(snapshotId)),
    async usedBytes(devboxId, signal) {
      const { usedBytes } = await measure(existing(folderOf(devboxId), writableFolders), how(signal, 'sizes'))
      return usedBytes
    },
    async remove(devboxId) {
      for (const name of [...writableFolders, unfinishedName]) await removeFolder(join(folderOf(devboxId), name))
    },
  }
}

const existing = (folder: string, names: readonly string[]) =>
  names.map((name) => join(folder, name)).filter((path) => existsSync(path))

const failed = (message: string) => new ServiceError('internal', message, { shouldRetry: false })

const unfinishedName = 'new'

/** `home` is renamed into place last, so an interrupted run starts over. */
const makeDisk = async (folder: string, restore: (to: string) => Promise<void>): Promise<void> => {
  const home = join(folder, 'home')
  const unfinished = join(folder, unfinishedName)
  const fresh = (name: (typeof diskFolders)[number]) => join(unfinished, name)
  if (!existsSync(home)) {
    await removeFolder(unfinished)
    await restore(unfinished)
    for (const name of diskFolders) {
      await mkdir(fresh(name), { recursive: true, mode: 0o700 })
      await copyOver(join(folder, 'mounts', name), fresh(name))
    }
    await writeFile(join(fresh('home'), '.bashrc'), bashrc, { flag: 'wx' }).catch(unlessExists)
    await removeFolder(join(folder, 'tmp'))
    await rename(fresh('tmp'), join(folder, 'tmp'))
    await rename(fresh('home'), home)
  }
  await mkdir(join(folder, 'tmp'), { recursive: true, mode: 0o700 })
  await removeFolder(unfinished)
}

const makeRoot = async (root: string, names: readonly string[]): Promise<void> => {
  for (const name of names) {
    if (!isRootFolder(name)) throw new Error(`A devbox can't have its own /${name} folder`)
    await mkdir(join(root, name), { recursive: true, mode: 0o700 })
  }
}

/** Copies files over those in `to`. Never follows a symlink in `to`: a devbox may have created it. */
const copyOver = async (from: string, to: string): Promise<void> => {
  const entries: Dirent[] = await readdir(from, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const target = join(to, entry.name)
    const there = await lstat(target).catch(() => undefined)
    if (there && there.isDirectory() !== entry.isDirectory())
      if (there.isDirectory() || !there.isSymbolicLink())
        throw new Error(`The disk has something else at the path of a mounted file: ${entry.name}`)
    if (there && !there.isDirectory()) await rm(target)
    if (entry.isSymbolicLink()) await symlink(await readlink(join(from, entry.name)), target)
    else if (!entry.isDirectory()) await copyFile(join(from, entry.name), target, constants.COPYFILE_FICLONE)
    else {
      if (!there?.isDirectory()) await mkdir(target, { mode: 0o755 })
      await copyOver(join(from, entry.name), target)
    }
  }
}

const unlessExists = (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EEXIST') throw error
}

const bashrc = String.raw`PS1='\[\e[1;32m\]user@$DEVDECK_DEVBOX_NAME\[\e[0m\]:\[\e[1;34m\]\w\[\e[0m\]$ '
alias ls='ls --color=auto' grep='grep --color=auto'
`
