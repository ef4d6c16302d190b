import { constants, type Dirent, lstatSync } from 'node:fs'
import { copyFile, lstat, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Archive, unpackArchive } from '#lib/service/engine/local/disk-tools.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { quote } from '#lib/service/kit/quoting.ts'
import { removeFolder } from '#lib/service/kit/remove-folder.ts'
import { namesIn } from '#lib/service/store/lost-and-found.ts'
import { setupFile } from './agent-setup.ts'
import { originFile } from './origin.ts'

interface Place {
  field: string
  folder: (typeof diskFolders)[number]
  path: string
}
interface FileMount extends Place {
  /** Text, or a file to copy. */
  content: string | { file: string }
}
interface ArchiveMount extends Place {
  archive: Archive
}
export type Mount = FileMount | ArchiveMount

export interface MountField {
  field: string
  /** The devbox's home directory. */
  home: string
}

const diskFolders = ['home', 'tmp'] as const

/** Accepts paths relative to home, `~/x`, or below `home` or `/tmp/`. Throws 400 for others. */
export const mountFile = ({ field, home }: MountField, path: string, content: FileMount['content']): FileMount => {
  const place = placeOf(path, home)
  if (!place?.path || path.endsWith('/'))
    throw invalidMount(field, `${JSON.stringify(path)} must be a file below the home directory or /tmp`)
  return { field, ...place, content }
}

/** Accepts the paths of `mountFile`, and the home directory and `/tmp` themselves. */
export const mountArchive = (at: MountField, path: string, archive: Archive): ArchiveMount => {
  return { field: at.field, ...folderAt(at, path), archive }
}

/** Returns the path of a folder in the devbox as shell text. */
export const shellFolder = (at: MountField, path: string): string => {
  const place = folderAt(at, path)
  const root = place.folder === 'home' ? '"$HOME"' : `"\${TMPDIR:-/tmp}"`
  return place.path ? `${root}/${quote(place.path)}` : root
}

const folderAt = ({ field, home }: MountField, path: string) => {
  const place = path === '' ? undefined : placeOf(path, home)
  if (place) return place
  throw invalidMount(field, `${JSON.stringify(path)} must be a folder: the home directory, /tmp or below them`)
}

const placeOf = (path: string, home: string): Omit<Place, 'field'> | undefined => {
  const root = ['~', home, '/tmp'].find((each) => path === each || path.startsWith(`${each}/`))
  const relative = root === undefined ? path : path.slice(root.length + 1)
  const segments = relative.split('/')
  if (relative.startsWith('/') || path.includes('\0') || segments.includes('..')) return undefined
  return {
    folder: root === '/tmp' ? 'tmp' : 'home',
    path: segments.filter((segment) => segment !== '' && segment !== '.').join('/'),
  }
}

type Unpacking = Pick<Parameters<typeof unpackArchive>[0], 'maxBytes' | 'isolation' | 'marks'>

/**
 * Stores the mounts until the disk is made, which may have to wait for a snapshot. Files replace those of archives.
 * Throws 400 for conflicting paths and unusable archives.
 */
export const stageMounts = async (folder: string, mounts: readonly Mount[], unpacking: Unpacking): Promise<void> => {
  let maxBytes = unpacking.maxBytes
  const layer = join(folder, 'mounts', 'layer')
  const mergeLayer = async () => {
    for (const name of diskFolders) await moveOver(join(layer, name), join(staged(folder), name))
    await rm(layer, { recursive: true, force: true })
  }
  for (const { folder: place, path, field, archive } of mounts.filter((each) => 'archive' in each)) {
    // In a separate layer, so that it doesn't go through a symlink of another archive.
    const to = join(layer, place, path)
    await mkdir(to, { recursive: true, mode: 0o700 })
    const { problem, usedBytes } = await unpackArchive({ ...unpacking, ...archive, to, maxBytes })
    if (problem !== undefined) throw invalidMount(field, problem)
    maxBytes -= usedBytes
    await mergeLayer()
  }
  for (const { folder: place, path, field, content } of mounts.filter((each) => 'content' in each)) {
    const file = join(layer, place, path)
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      if (typeof content === 'string') await writeFile(file, content)
      else await copyFile(content.file, file, constants.COPYFILE_FICLONE)
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (!['EEXIST', 'EISDIR', 'ENOTDIR', 'ENAMETOOLONG'].includes(code)) throw error
      throw invalidMount(field, `Could not create ${JSON.stringify(path)} (${code})`)
    }
  }
  await mergeLayer()
}

/** Moves a folder's entries over those in `to`. Never follows a symlink in `to`: an archive may have created it. */
const moveOver = async (from: string, to: string): Promise<void> => {
  const entries: Dirent[] = await readdir(from, { withFileTypes: true }).catch(() => [])
  if (entries.length > 0) await mkdir(to, { recursive: true, mode: 0o700 })
  for (const entry of entries) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    const there = await lstat(target).catch(() => undefined)
    if (there?.isDirectory() && entry.isDirectory()) await moveOver(source, target)
    else {
      if (there) await rm(target, { recursive: true })
      await rename(source, target)
    }
  }
}

/** Call once the disk is made. */
export const removeStaged = (folder: string): Promise<void> => removeFolder(staged(folder))

export const isUnfinished = (folder: string): boolean => {
  const names = namesIn(folder)
  return lstatSync(folder).isDirectory() && names.every((name) => foldersBeforeStart.includes(name))
}

const foldersBeforeStart = ['mounts', originFile, setupFile]
const staged = (folder: string) => join(folder, 'mounts')

export const invalidMount = (field: string, problem: string) =>
  new ServiceError('invalid_argument', `${field}: ${problem}`, { field })
