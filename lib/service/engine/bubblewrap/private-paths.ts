import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Paths below `folders` that this process may read or enter and not everybody may; without links. */
export const privatePaths = async (folders: readonly string[]): Promise<string[]> => {
  const isPrivate = ['(', '!', '-perm', '-004', '-o', '-type', 'd', '!', '-perm', '-001', ')']
  const isOurs = ['(', '-readable', '-o', '-executable', ')']
  const found = await promisify(execFile)(
    '/usr/bin/find',
    [...folders, '!', '-type', 'l', ...isPrivate, '-prune', ...isOurs, '-print0'],
    { maxBuffer: 2 ** 26 },
  ).catch((error: { code?: unknown; stdout: string }) => {
    // A folder that is missing, or a file removed meanwhile: the rest was found all the same.
    if (error.code === 1) return error
    throw error
  })
  return found.stdout.split('\0').filter(Boolean)
}
