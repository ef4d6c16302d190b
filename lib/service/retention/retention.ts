import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { keepsDisk } from '#lib/contract/devboxes.ts'
import type { Pruned } from '#lib/contract/storage.ts'
import { countOf, sizeText } from '#lib/service/kit/amounts.ts'
import { logError, logFailure } from '#lib/service/kit/log.ts'
import { removeFolder } from '#lib/service/kit/remove-folder.ts'
import { at } from '#lib/service/kit/timer.ts'
import type { Ended, EndedStore } from '#lib/service/store/ended.ts'
import type { StorageKind, StorageQuota } from '#lib/service/store/storage-quota.ts'
import { bytesBelow } from '#lib/service/store/stored-bytes.ts'
import type { Stores } from '#lib/service/store/stores.ts'

/** Unspecified: how long ended devboxes, commands, jobs and runs are kept. */
export const defaultKeepEndedSeconds = 30 * 24 * 3600

const batchSize = 200
/** Disk space is checked every second. */
const exhaustedMs = 60_000
/** Used to free disk space, which stops as soon as there is enough. */
const smallBatchSize = 10
const intervalMs = 60 * 60 * 1000
const maxSettleMs = 10_000
/** A data folder that an older release wrote keeps everything for a day, so that the operator can choose otherwise. */
const firstPruneMs = 24 * 60 * 60 * 1000
const markerName = 'retention-since'

interface Pass {
  beforeMs: number
  dryRun: boolean
  goalBytes?: number | undefined
  pruned: Pruned
}

interface Options {
  /** 0: nothing expires. */
  keepSeconds: number
  ended: EndedStore
  store: Pick<Stores, 'devboxes' | 'benchmarkJobs' | 'benchmarkRuns' | 'scenarioRuns'>
  quota: StorageQuota
  dataDir: string
  folderOf: (devboxId: string) => string
  runFolderOf: (scenarioRunId: string) => string
  /** Resolve once an ended job or devbox is no longer in use: its processes may still be stopping, its trials saving logs. */
  settled: { job: (id: string) => Promise<void>; devbox: (id: string) => Promise<void> }
}

/** Deletes the output, logs and records of devboxes, commands, jobs and runs some time after they have ended. */
export class Retention {
  readonly #options: Options
  #cancelTimer: () => void = () => undefined
  #pruning: Promise<unknown> = Promise.resolve()
  #isClosed = false
  #exhaustedUntilMs = 0
  #logsFreedTo: Pick<Ended, 'id' | 'end_time_ms'> = { id: '', end_time_ms: -1 }

  constructor(options: Options) {
    this.#options = options
  }

  get keepSeconds(): number {
    return this.#options.keepSeconds
  }

  /** Prunes every hour. */
  start(): void {
    if (this.keepSeconds === 0) return
    const { dataDir } = this.#options
    const marker = join(dataDir, markerName)
    if (!existsSync(marker)) {
      const hasOld = this.#hasEnded(Date.now() - this.keepSeconds * 1000)
      writeFileSync(marker, `${Date.now() + (hasOld ? firstPruneMs : 0)}\n`, { mode: 0o600 })
      if (hasOld)
        logError({
          level: 'warn',
          message: `Devboxes, commands, jobs and runs that ended more than ${this.#age()} ago will be deleted starting tomorrow. Start with --keep-ended 0 to keep them`,
        })
    }
    const first = Number(readFileSync(marker, 'utf8'))
    const prune = () => {
      void this.prune()
        .then((pruned) => this.#report(pruned, `that ended more than ${this.#age()} ago`))
        .catch(logFailure('Could not delete expired data'))
      this.#cancelTimer = at(Date.now() + intervalMs, prune)
    }
    this.#cancelTimer = at(Math.max(first, Date.now()), prune)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelTimer()
    await this.#pruning.catch(() => undefined)
  }

  /** Deletes what ended more than `olderThanSeconds` ago, oldest first. With `dryRun`, only counts. */
  prune({ olderThanSeconds = this.keepSeconds, dryRun = false } = {}): Promise<Pruned> {
    return this.#oneAtATime({ beforeMs: Date.now() - olderThanSeconds * 1000, dryRun }, (pass) => this.#expired(pass))
  }

  /**
   * Frees disk space: deletes what has expired, then the oldest ended devboxes, then the oldest logs of ended runs, until
   * `bytes` are freed. Scores stay. Returns the number of bytes freed.
   */
  async free(bytes: number): Promise<number> {
    if (this.keepSeconds === 0 || Date.now() < this.#exhaustedUntilMs) return 0
    const expiredMs = Date.now() - this.keepSeconds * 1000
    const pruned = await this.#oneAtATime({ beforeMs: expiredMs, dryRun: false, goalBytes: bytes }, async (pass) => {
      await this.#expired(pass)
      await this.#devboxes({ ...pass, beforeMs: Date.now() })
      await this.#runLogs(pass)
    })
    this.#report(pruned, 'to free disk space')
    if (pruned.bytes < bytes) this.#exhaustedUntilMs = Date.now() + exhaustedMs
    return pruned.bytes
  }

  /** Deletes ended jobs and devboxes of an account, whatever their age. Skips others. */
  async delete(account: string, { benchmark_jobs, devboxes }: { benchmark_jobs: string[]; devboxes: string[] }) {
    const { store, settled } = this.#options
    const endedJobs = () =>
      benchmark_jobs.filter((id) => {
        const job = store.benchmarkJobs.find(id)
        return job?.account === account && hasJobEnded(job.state)
      })
    const endedDevboxes = () =>
      devboxes.flatMap((id) => {
        const devbox = store.devboxes.find(id)
        if (devbox?.account !== account || keepsDisk(devbox)) return []
        return [{ id, account, end_time_ms: devbox.end_time_ms ?? 0 }]
      })
    await waitFor([...endedJobs().map(settled.job), ...endedDevboxes().map(({ id }) => settled.devbox(id))])
    return this.#oneAtATime({ beforeMs: Date.now(), dryRun: false }, async (pass) => {
      for (const id of endedJobs()) await this.#removeJob(id, pass)
      await this.#removeDevboxes(endedDevboxes(), pass)
    })
  }

  #oneAtATime(pass: Omit<Pass, 'pruned'>, work: (pass: Pass) => Promise<void>): Promise<Pruned> {
    const run = async () => {
      const pruned = none()
      await work({ ...pass, pruned })
      return pruned
    }
    const result = this.#pruning.then(run, run)
    this.#pruning = result
    return result
  }

  #age() {
    const days = this.keepSeconds / (24 * 3600)
    return Number.isInteger(days) ? countOf(days, 'day') : countOf(Math.round(this.keepSeconds / 3600), 'hour')
  }

  #report({ bytes, ...counts }: Pruned, reason: string) {
    const parts = Object.entries(counts).flatMap(([kind, count]) =>
      count > 0 ? [`${count} ${kind.replace('_', ' ')}`] : [],
    )
    if (parts.length === 0 && bytes === 0) return
    logError({ level: 'info', message: `Deleted ${[...parts, sizeText(bytes)].join(', ')} ${reason}` })
  }

  #hasEnded(beforeMs: number) {
    const { ended } = this.#options
    return (['devboxes', 'executions', 'jobs', 'runs', 'scenarioRuns'] as const).some(
      (kind) => ended[kind](beforeMs, 1).length > 0,
    )
  }

  async #expired(pass: Pass) {
    const { ended } = this.#options
    for await (const jobs of this.#batches(ended.jobs, pass)) for (const { id } of jobs) await this.#removeJob(id, pass)
    for await (const runs of this.#batches(ended.runs, pass)) for (const { id } of runs) await this.#removeRun(id, pass)
    for await (const runs of this.#batches(ended.scenarioRuns, pass)) await this.#removeScenarioRuns(runs, pass)
    await this.#devboxes(pass)
    for await (const executions of this.#batches(ended.executions, pass)) await this.#removeExecutions(executions, pass)
  }

  async #removeJob(id: string, pass: Pass) {
    const { ended, store } = this.#options
    for (const run of ended.runsOfJob(id)) await this.#removeRun(run, pass)
    if (this.#isClosed) return
    pass.pruned.benchmark_jobs++
    if (!pass.dryRun)
      ended.transaction(() => {
        store.benchmarkJobs.remove(id)
        ended.removeVersion(id)
      })
  }

  /** A dry run deletes nothing, so it has one batch with everything. */
  async *#batches<T>(find: (beforeMs: number, limit: number) => T[], pass: Pass): AsyncGenerator<T[]> {
    const size = pass.goalBytes === undefined ? batchSize : smallBatchSize
    while (!this.#isOver(pass)) {
      const batch = find(pass.beforeMs, pass.dryRun ? -1 : size)
      if (batch.length > 0) yield batch
      if (pass.dryRun || batch.length < size) return
      await nextTurn()
    }
  }

  #isOver({ pruned, goalBytes = Number.POSITIVE_INFINITY }: Pass) {
    return this.#isClosed || pruned.bytes >= goalBytes
  }

  async #removeRun(id: string, pass: Pass) {
    const { ended, store } = this.#options
    const scenarioRuns = (_: number, limit: number) => ended.scenarioRunsOf(id, limit)
    for await (const batch of this.#batches(scenarioRuns, { ...pass, goalBytes: undefined }))
      await this.#removeScenarioRuns(batch, pass)
    if (this.#isClosed) return
    pass.pruned.benchmark_runs++
    if (!pass.dryRun) store.benchmarkRuns.remove(id)
  }

  async #removeScenarioRuns(runs: readonly Ended[], pass: Pass) {
    const { ended, store, runFolderOf } = this.#options
    const devboxes = runs.flatMap(({ id, account, end_time_ms }) => {
      const devboxId = ended.devboxOf(id)
      const devbox = devboxId === undefined ? undefined : store.devboxes.find(devboxId)
      return devbox && !keepsDisk(devbox) ? [{ id: devbox.id, account, end_time_ms }] : []
    })
    pass.pruned.scenario_runs += runs.length
    await this.#removeFolders(
      runs.map(({ id, account }) => ({ path: runFolderOf(id), account })),
      'run logs',
      pass,
    )
    if (!pass.dryRun)
      ended.transaction(() => {
        for (const { id } of runs) store.scenarioRuns.remove(id)
      })
    await this.#removeDevboxes(devboxes, pass)
  }

  async #devboxes(pass: Pass) {
    const { ended } = this.#options
    for await (const devboxes of this.#batches(ended.devboxes, pass)) await this.#removeDevboxes(devboxes, pass)
    let after = -1
    const sources = (beforeMs: number, limit: number) => {
      const found = ended.snapshotSources(beforeMs, limit, after)
      after = found.at(-1)?.end_time_ms ?? after
      return found
    }
    for await (const devboxes of this.#batches(sources, pass)) await this.#removeOutput(devboxes, pass)
  }

  async #removeDevboxes(devboxes: readonly Ended[], pass: Pass) {
    const { ended, store, settled } = this.#options
    if (devboxes.length === 0) return
    if (!pass.dryRun) await waitFor(devboxes.map(({ id }) => settled.devbox(id)))
    pass.pruned.devboxes += devboxes.length
    await this.#removeOutput(devboxes, pass)
    if (pass.dryRun) return
    const ids = devboxes.map(({ id }) => id)
    ended.transaction(() => {
      ended.removeRecordsOf(ids)
      for (const id of ids) if (!ended.isSnapshotSource(id)) store.devboxes.remove(id)
    })
  }

  /** Only command output counts for the quota of an account. */
  async #removeOutput(devboxes: readonly Ended[], pass: Pass) {
    const { folderOf } = this.#options
    const foldersAt = (...name: string[]) =>
      devboxes.map(({ id, account }) => ({ path: join(folderOf(id), ...name), account }))
    await this.#removeFolders(foldersAt('executions'), 'outputs', pass)
    await this.#removeFolders(pass.dryRun ? foldersAt('log') : foldersAt(), undefined, pass)
  }

  async #removeExecutions(executions: readonly (Ended & { devbox_id: string })[], pass: Pass) {
    const { ended, folderOf } = this.#options
    const folders = executions.map(({ id, devbox_id, account }) => ({
      path: join(folderOf(devbox_id), 'executions', id),
      account,
    }))
    await this.#removeFolders(folders, 'outputs', pass)
    pass.pruned.executions += executions.length
    if (!pass.dryRun) ended.removeExecutions(executions)
  }

  async #runLogs(pass: Pass) {
    const { ended, runFolderOf } = this.#options
    const oldest = (_: number, limit: number) => {
      const found = ended.oldestScenarioRuns(this.#logsFreedTo, limit)
      this.#logsFreedTo = found.at(-1) ?? this.#logsFreedTo
      return found
    }
    for await (const runs of this.#batches(oldest, pass)) {
      const folders = runs
        .map(({ id, account }) => ({ path: runFolderOf(id), account }))
        .filter(({ path }) => existsSync(path))
      await this.#removeFolders(folders, 'run logs', pass)
      for (const { path } of folders) await leaveNote(path)
    }
  }

  /** Before the records: a folder without one would be taken for lost at the next start. */
  async #removeFolders(
    folders: readonly { path: string; account: string }[],
    kind: StorageKind | undefined,
    { pruned, dryRun }: Pass,
  ) {
    const { quota } = this.#options
    const measure = async ({ path, account }: { path: string; account: string }) => ({
      account,
      bytes: await bytesBelow(path),
    })
    const sizes = await Promise.all(folders.map(measure))
    if (!dryRun) await removeFolder(...folders.map(({ path }) => path))
    for (const { account, bytes } of sizes) {
      pruned.bytes += bytes
      if (!dryRun && kind !== undefined) quota.add(account, kind, -bytes)
    }
  }
}

/** Downloads of the run's logs contain it. */
const leaveNote = async (folder: string) => {
  const text = `The logs were deleted at ${new Date().toISOString()} to free disk space.\n`
  await mkdir(folder, { mode: 0o700 })
    .then(() => writeFile(join(folder, 'logs-deleted.txt'), text, { mode: 0o600 }))
    .catch(logFailure(`Could not leave a note in ${folder}`))
}

/** Limited, because an engine may not respond. */
const waitFor = (work: readonly Promise<void>[]) =>
  Promise.race([Promise.all(work), delay(maxSettleMs, undefined, { ref: false })])

const none = (): Pruned => ({
  devboxes: 0,
  executions: 0,
  benchmark_jobs: 0,
  benchmark_runs: 0,
  scenario_runs: 0,
  bytes: 0,
})
