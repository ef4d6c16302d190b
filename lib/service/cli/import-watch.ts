import { readdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findJobs } from '#lib/service/benchmarks/import/found-jobs.ts'
import { readJson } from '#lib/service/benchmarks/import/json-file.ts'
import { StartError } from '#lib/service/kit/errors.ts'

export interface Watch {
  everySeconds: number
  once: boolean
}

/** Final until the job's files change; other errors are retried. */
export class RejectedImport extends StartError {}

/** A job without an end is complete once nothing has changed for this long. */
const quietMs = 10 * 60_000

/** Imports each job below a folder once it has ended, and again when it continued. */
export const watchJobs = async (
  folder: string,
  { everySeconds, once }: Watch,
  importFrom: (folder: string, signal: AbortSignal) => Promise<void>,
): Promise<void> => {
  const stop = new AbortController()
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stop.abort())
  const imported = new Map<string, number>()
  let lastProblem = ''
  const pass = async () => {
    for (const { path } of await findJobs(folder, folder)) {
      if (stop.signal.aborted) return
      const job = join(folder, path)
      const changedMs = await lastChange(job)
      if (imported.get(path) === changedMs || !((await hasEnded(job)) || Date.now() - changedMs >= quietMs)) continue
      try {
        await importFrom(job, stop.signal)
        imported.set(path, changedMs)
        lastProblem = ''
      } catch (error) {
        if (!(error instanceof StartError)) throw error
        if (stop.signal.aborted) return
        if (error instanceof RejectedImport) imported.set(path, changedMs)
        // Printed once, however long the service is down.
        if (error.message !== lastProblem) console.error(`${relative(folder, job) || '.'}: ${error.message}`)
        lastProblem = error.message
        if (!(error instanceof RejectedImport)) return
      }
    }
  }
  do {
    await pass()
    if (!once) await sleep(everySeconds * 1000, undefined, { signal: stop.signal }).catch(() => undefined)
  } while (!once && !stop.signal.aborted)
}

const hasEnded = async (job: string): Promise<boolean> => {
  const endOf = async (file: string, key: string) => {
    const read = await readJson(join(job, file))
    return 'value' in read && (read.value as Record<string, unknown> | null)?.[key] != null
  }
  return (await endOf('result.json', 'finished_at')) || endOf('run_metadata.json', 'end_time')
}

/** The latest change of a file in the job's folder or its trials' folders. */
const lastChange = async (job: string): Promise<number> => {
  let latest = 0
  for (const entry of await readdir(job, { withFileTypes: true })) {
    const path = join(job, entry.name)
    const below = entry.isDirectory() ? (await readdir(path)).map((name) => join(path, name)) : []
    for (const each of [path, ...below]) {
      const { mtimeMs = 0 } = (await stat(each).catch(() => undefined)) ?? {}
      latest = Math.max(latest, mtimeMs)
    }
  }
  return latest
}
