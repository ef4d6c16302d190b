import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readJson } from './json-file.ts'

const trialEntries = ['result.json', 'results.json', 'config.json', 'trial.log', 'exception.txt', 'agent', 'verifier']
/** Subfolders of a trial, which may contain files with the names of a trial's. */
const partsOfTrial = ['agent', 'verifier', 'artifacts', 'steps']
const jobKeys = [
  'n_total_trials',
  'stats',
  'trial_results',
  'job_name',
  'agents',
  'datasets',
  'run_id',
  'n_resolved',
  'results',
]
const maxDepth = 8

export const trialFolders = async (folder: string): Promise<string[]> => {
  const found: string[] = []
  for (const name of await foldersIn(folder)) {
    if (await isTrial(join(folder, name))) found.push(name)
    else
      for (const below of await foldersIn(join(folder, name)))
        if (await isTrial(join(folder, name, below))) found.push(`${name}/${below}`)
  }
  return found
}

export const jobFolders = async (folder: string, depth = 0): Promise<string[]> => {
  if (await isJob(folder)) return [folder]
  if (depth === maxDepth || (depth > 0 && (await isTrial(folder)))) return []
  const found: string[] = []
  for (const name of await foldersIn(folder)) found.push(...(await jobFolders(join(folder, name), depth + 1)))
  return found
}

/** Without the files that operating systems add. */
export const visibleEntries = async (folder: string): Promise<Dirent[]> =>
  (await readdir(folder, { withFileTypes: true })).filter(
    ({ name }) => name !== '__MACOSX' && name !== '.DS_Store' && name !== 'Thumbs.db',
  )

const isTrial = async (folder: string): Promise<boolean> => {
  const inside = await readdir(folder)
  return trialEntries.some((name) => inside.includes(name))
}

const isJob = async (folder: string): Promise<boolean> => {
  for (const file of ['result.json', 'results.json', 'config.json', 'run_metadata.json']) {
    const read = await readJson(join(folder, file))
    const isObject = 'value' in read && typeof read.value === 'object' && read.value !== null
    if (isObject && jobKeys.some((key) => Object.hasOwn(read.value as object, key))) return true
  }
  return false
}

const foldersIn = async (folder: string): Promise<string[]> =>
  (await visibleEntries(folder))
    .filter((entry) => entry.isDirectory() && !partsOfTrial.includes(entry.name))
    .map(({ name }) => name)
    .sort()
