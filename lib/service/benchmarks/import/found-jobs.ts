import { basename, dirname, join, relative } from 'node:path'
import type { ForeignJob } from './foreign-job.ts'
import { readHarborFolder } from './harbor-folder.ts'
import { foldersIn, isJob, isTrial } from './job-folders.ts'
import { isOwnExport, readOwnExport } from './own-export.ts'

interface FoundJob {
  /** Relative to the archive. */
  path: string
  /** Throws a NoJobError. */
  read: () => Promise<ForeignJob>
}

const maxDepth = 8

/** Finds the jobs in a folder, however deep: archives have one or many, with or without a job's own files. */
export const findJobs = async (root: string, name: string): Promise<FoundJob[]> => {
  const found: FoundJob[] = []
  const trialsOf = new Map<string, string[]>()
  const nameOf = (path: string) => (path === '' ? name : basename(path))
  const visit = async (path: string, depth: number) => {
    const folder = join(root, path)
    if (await isOwnExport(folder)) found.push({ path, read: () => readOwnExport(folder) })
    else if (await isJob(folder)) found.push({ path, read: () => readHarborFolder(folder, nameOf(path)) })
    else if (depth > 0 && (await isTrial(folder))) {
      const parent = sharedFolder(path)
      trialsOf.set(parent, [...(trialsOf.get(parent) ?? []), relative(parent, path)])
    } else if (depth < maxDepth) for (const below of await foldersIn(folder)) await visit(join(path, below), depth + 1)
  }
  await visit('', 0)
  for (const [path, trials] of trialsOf) {
    const isRepeated = [...trialsOf.keys()].some((each) => each !== path && basename(each) === basename(path))
    const name = isRepeated ? path : nameOf(path)
    found.push({ path, read: () => readHarborFolder(join(root, path), name, trials) })
  }
  return found
}

/** The folder of a trial, or the one above if that is its task's: `pay/pay__aaaaaaa`, `pay/pay.1-of-1.run` or `pay/pay_1`. */
const sharedFolder = (trial: string): string => {
  const parent = folderOf(trial)
  const task = basename(parent)
  const isOfTask =
    task !== '' && basename(trial).startsWith(task) && /^(?:__|\.|_\d)/.test(basename(trial).slice(task.length))
  return isOfTask ? folderOf(parent) : parent
}

const folderOf = (path: string): string => {
  const parent = dirname(path)
  return parent === '.' ? '' : parent
}
