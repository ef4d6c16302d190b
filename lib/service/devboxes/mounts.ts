import { lstatSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { removeFolder } from '#lib/service/kit/remove-folder.ts'
import { namesIn } from '#lib/service/store/lost-and-found.ts'
import { originFile } from './origin.ts'

export interface Mount {
  field: string
  folder: 'home' | 'tmp'
  path: string
  content: string
}

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

/** Stores the mounts until the disk is made, which may have to wait for a snapshot. Throws 400 for conflicting paths. */
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

/** Call once the disk is made. */
export const removeStaged = (folder: string): Promise<void> => removeFolder(staged(folder))

export const isUnfinished = (folder: string): boolean => {
  const names = namesIn(folder)
  return lstatSync(folder).isDirectory() && names.every((name) => foldersBeforeStart.includes(name))
}

const foldersBeforeStart = ['mounts', originFile]
const staged = (folder: string) => join(folder, 'mounts')

const invalidMount = (field: string, problem: string) =>
  new ServiceError('invalid_argument', `${field}: ${problem}`, { field })
