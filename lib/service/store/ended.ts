import { timeOfId } from '#lib/service/kit/ids.ts'
import { placeholders } from './clauses.ts'
import { type Database, inTransaction } from './database.ts'

/** An ended devbox or scenario run. */
export interface Ended {
  id: string
  account: string
  end_time_ms: number
}

export type EndedStore = ReturnType<typeof createEndedStore>

/**
 * What has ended and can be deleted. A record ended when it did, but not before it was stored: an imported job may
 * have run years ago.
 */
export const createEndedStore = (database: Database) => {
  const idTime = (table: string) => `substr(${table}.id, instr(${table}.id, '_') + 1, 10)`
  // A devbox of a benchmark is deleted with its scenario run, and a failed one that has run keeps its disk.
  const endedDevboxes = `
    devboxes.end_time_ms < ?1 AND ${idTime('devboxes')} < ?2
      AND (status = 'shutdown' OR state_transitions NOT LIKE '%"status":"running"%')
      AND NOT EXISTS (SELECT 1 FROM scenario_runs WHERE devbox_id = devboxes.id)`
  const isKept = "snapshots.status IN ('in_progress', 'complete')"
  const statements = {
    // A snapshot names its devbox, so the row stays, without output.
    devboxes: database.prepare(`
      SELECT id, account, end_time_ms FROM devboxes WHERE ${endedDevboxes}
        AND NOT EXISTS (SELECT 1 FROM snapshots WHERE source_devbox_id = devboxes.id AND ${isKept})
      ORDER BY end_time_ms LIMIT ?3`),
    sources: database.prepare(`
      SELECT id, account, end_time_ms FROM devboxes WHERE ${endedDevboxes} AND end_time_ms > ?4
        AND EXISTS (SELECT 1 FROM snapshots WHERE source_devbox_id = devboxes.id AND ${isKept})
      ORDER BY end_time_ms LIMIT ?3`),
    executions: database.prepare(`
      SELECT executions.id, devbox_id, account, executions.end_time_ms FROM executions
        JOIN devboxes ON devboxes.id = devbox_id
      WHERE executions.end_time_ms < ?1 AND devboxes.end_time_ms IS NULL ORDER BY executions.end_time_ms LIMIT ?2`),
    jobs: database.prepare(`
      SELECT id, account, end_time_ms FROM benchmark_jobs
      WHERE end_time_ms < ?1 AND ${idTime('benchmark_jobs')} < ?2 ORDER BY end_time_ms LIMIT ?3`),
    runs: database.prepare(`
      SELECT id, account, end_time_ms FROM benchmark_runs
      WHERE job_id IS NULL AND end_time_ms < ?1 AND ${idTime('benchmark_runs')} < ?2 ORDER BY end_time_ms LIMIT ?3`),
    scenarioRuns: database.prepare(`
      SELECT id, account, end_time_ms FROM scenario_runs
      WHERE benchmark_run_id IS NULL AND end_time_ms < ?1 AND ${idTime('scenario_runs')} < ?2
      ORDER BY end_time_ms LIMIT ?3`),
  }
  const before = (kind: 'devboxes' | 'jobs' | 'runs' | 'scenarioRuns', beforeMs: number, limit: number) =>
    statements[kind].all(beforeMs, timeOfId(beforeMs), limit) as unknown as Ended[]
  const runsOfJob = database.prepare('SELECT id FROM benchmark_runs WHERE job_id = ?')
  const scenarioRunsOf = database.prepare(
    'SELECT id, account, end_time_ms, devbox_id FROM scenario_runs WHERE benchmark_run_id = ? LIMIT ?',
  )
  const devboxOf = database.prepare('SELECT devbox_id FROM scenario_runs WHERE id = ?')
  const oldestRuns = database.prepare(`
    SELECT id, account, end_time_ms FROM scenario_runs WHERE end_time_ms IS NOT NULL AND (end_time_ms, id) > (?, ?)
    ORDER BY end_time_ms, id LIMIT ?`)
  const isSource = database.prepare('SELECT 1 FROM snapshots WHERE source_devbox_id = ?')
  const removeExecution = database.prepare('DELETE FROM executions WHERE devbox_id = ? AND id = ?')
  const removeVersion = database.prepare('DELETE FROM job_versions WHERE job_id = ?')

  return {
    devboxes: (beforeMs: number, limit: number) => before('devboxes', beforeMs, limit),
    /** Devboxes that snapshots name, after `afterMs`. */
    snapshotSources: (beforeMs: number, limit: number, afterMs: number) =>
      statements.sources.all(beforeMs, timeOfId(beforeMs), limit, afterMs) as unknown as Ended[],
    /** In devboxes that have not ended. */
    executions: (beforeMs: number, limit: number) =>
      statements.executions.all(beforeMs, limit) as unknown as (Ended & { devbox_id: string })[],
    jobs: (beforeMs: number, limit: number) => before('jobs', beforeMs, limit),
    /** Runs without a job. */
    runs: (beforeMs: number, limit: number) => before('runs', beforeMs, limit),
    /** Scenario runs without a run. */
    scenarioRuns: (beforeMs: number, limit: number) => before('scenarioRuns', beforeMs, limit),

    runsOfJob: (jobId: string): string[] => runsOfJob.all(jobId).map(({ id }) => String(id)),
    scenarioRunsOf: (runId: string, limit: number) => scenarioRunsOf.all(runId, limit) as unknown as Ended[],
    devboxOf: (scenarioRunId: string) => (devboxOf.get(scenarioRunId)?.devbox_id ?? undefined) as string | undefined,
    /** All ended scenario runs, oldest first. */
    oldestScenarioRuns: (after: Pick<Ended, 'id' | 'end_time_ms'>, limit: number) =>
      oldestRuns.all(after.end_time_ms, after.id, limit) as unknown as Ended[],

    removeExecutions: (executions: readonly { id: string; devbox_id: string }[]): void =>
      inTransaction(database, () => {
        for (const { id, devbox_id } of executions) removeExecution.run(devbox_id, id)
      }),
    /** The rows that belong to these devboxes and nothing else. */
    removeRecordsOf: (devboxIds: readonly string[]): void => {
      const ids = placeholders(devboxIds)
      for (const table of ['executions', 'terminals', 'evictions'])
        database.prepare(`DELETE FROM ${table} WHERE devbox_id IN (${ids})`).run(...devboxIds)
      database.prepare(`DELETE FROM snapshots WHERE source_devbox_id IN (${ids}) AND NOT ${isKept}`).run(...devboxIds)
    },
    isSnapshotSource: (devboxId: string): boolean => isSource.get(devboxId) !== undefined,
    removeVersion: (jobId: string): void => void removeVersion.run(jobId),
    transaction: (work: () => void): void => inTransaction(database, work),
  }
}
