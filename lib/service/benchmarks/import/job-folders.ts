import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ForeignTrial } from './foreign-job.ts'
import { readJson } from './json-file.ts'

const trialEntries = ['result.json', 'results.json', 'config.json', 'trial.log', 'exception.txt', 'agent', 'verifier']
/** Subfolders of a trial, which may contain files with the names of a trial's. */
const partsOfTrial = ['agent', 'verifier', 'artifacts', 'steps']
const jobKeys = ['n_total_trials', 'stats', 'trial_results', 'results', 'datasets', 'job_name', 'agents', 'run_id']

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

export const isTrial = async (folder: string): Promise<boolean> => {
  const inside = await readdir(folder)
  return trialEntries.some((name) => inside.includes(name))
}

export const isJob = async (folder: string): Promise<boolean> => {
  for (const file of ['result.json', 'results.json', 'config.json', 'run_metadata.json']) {
    const read = await readJson(join(folder, file))
    const isObject = 'value' in read && typeof read.value === 'object' && read.value !== null
    if (isObject && jobKeys.some((key) => Object.hasOwn(read.value as object, key))) return true
  }
  return false
}

export const foldersIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory() && entry.name !== '__MACOSX' && !partsOfTrial.includes(entry.name))
    .map(({ name }) => name)
    .sort()

/** Unspecified: the maximum number of log files per trial; the same as in a log archive. */
const maxFiles = 10_000
const maxLogDepth = 32

export const logsBelow = async (folder: string): Promise<{ files: ForeignTrial['logs']; omitted: number }> => {
  const files: ForeignTrial['logs'] = []
  let omitted = 0
  const walk = async (path: readonly string[]) => {
    const entries = await readdir(join(folder, ...path), { withFileTypes: true })
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const below = [...path, entry.name]
      if (entry.isDirectory() && below.length < maxLogDepth) await walk(below)
      else if (entry.isFile() && files.length < maxFiles) files.push({ from: join(folder, ...below), path: below })
      else omitted++
    }
  }
  await walk([])
  return { files, omitted }
}
