import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ApiError } from '#lib/client/api-error.ts'
import type { Pruned } from '#lib/contract/storage.ts'
import type { ServiceConfig } from '#lib/service/config.ts'
import { defaultPressure } from '#lib/service/evictions/pressure.ts'
import { databaseName, runningService } from '#lib/service/store/data-dir.ts'
import { openDatabase } from '#lib/service/store/database.ts'
import { createEndedStore } from '#lib/service/store/ended.ts'
import { StorageQuota } from '#lib/service/store/storage-quota.ts'
import { createStores } from '#lib/service/store/stores.ts'
import { agent, createJob, makeScenarios, untilEnded } from '#lib/service/testing/jobs.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { Retention } from './retention.ts'

let dataDir: string
let service: TestService
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'devdeck-retention-'))
})
afterEach(async () => {
  await service.close()
  rmSync(dataDir, { recursive: true, force: true })
})

const start = async (more: Partial<ServiceConfig> = {}) => {
  service = await startService({ isolation: 'none', dataDir, ...more })
  return service.client
}

const prune = async (body: object): Promise<Pruned> => {
  const authorization = `Bearer ${runningService(dataDir)?.operatorToken}`
  const response = await service.post('/local/prune', body, { authorization })
  expect(response.status).toBe(200)
  return response.json() as Promise<Pruned>
}

/** Everything that ended before the request. */
const everything = { older_than_seconds: 0 }
const nothing = { devboxes: 0, executions: 0, benchmark_jobs: 0, benchmark_runs: 0, scenario_runs: 0, bytes: 0 }

const statusOf = (call: Promise<unknown>) =>
  call.then(
    () => 200,
    (error: unknown) => (error as ApiError).status,
  )

const endedDevbox = async () => {
  const id = await service.devbox({ metadata: { kind: 'ended' } })
  await service.run(id, 'seq 1 1000')
  await service.client.devboxes.shutdown({ params: { id } })
  return id
}
const olderThanASecond = async (id: string) => {
  const { end_time_ms } = await service.client.devboxes.get({ params: { id } })
  await expect.poll(() => Date.now()).toBeGreaterThan(Number(end_time_ms) + 1000)
}
const hasFolder = (id: string) => existsSync(join(dataDir, 'devboxes', id))
const storedBytes = async () => (await service.client.storage.get()).stored_bytes

describe('retention', () => {
  it('deletes ended devboxes with their commands and logs, and no others', async () => {
    const client = await start()
    const [ended, running] = [await endedDevbox(), await service.devbox()]
    await service.run(running, 'echo kept > note; seq 1 1000')
    const suspended = await service.devbox()
    await client.devboxes.suspend({ params: { id: suspended } })
    await service.reach(suspended, 'suspended')
    const before = await storedBytes()

    const expected = await prune({ ...everything, dry_run: true })
    expect(expected).toMatchObject({ devboxes: 1, executions: 1, bytes: expect.toSatisfy((bytes) => bytes > 3893) })
    expect(await statusOf(client.devboxes.get({ params: { id: ended } }))).toBe(200)
    expect(await storedBytes()).toEqual(before)

    const pruned = await prune(everything)
    expect({ ...pruned, bytes: 0 }).toEqual({ ...expected, bytes: 0 })
    expect(pruned.bytes).toBeGreaterThanOrEqual(expected.bytes)
    expect(await statusOf(client.devboxes.get({ params: { id: ended } }))).toBe(404)
    expect((await client.devboxes.list({ query: {} })).devboxes.map(({ id }) => id).sort()).toEqual(
      [running, suspended].sort(),
    )
    expect((await client.devboxes.metadataKeys({})).keys).toEqual([])
    expect([hasFolder(ended), hasFolder(running), hasFolder(suspended)]).toEqual([false, true, true])
    // The output of the finished command in the running devbox has gone too.
    expect(await storedBytes()).toEqual({})
    expect((await service.run(running, 'cat note')).stdout).toBe('kept\n')
    await client.devboxes.resume({ params: { id: suspended } })
    expect(await service.reach(suspended, 'running')).toMatchObject({ status: 'running' })
    expect(await prune({ older_than_seconds: 3600 })).toEqual(nothing)
  })

  it('keeps a devbox that a snapshot names, without its output, until the snapshot is deleted', async () => {
    const client = await start()
    const id = await service.devbox()
    const snapshot = await client.snapshots.create({ params: { id }, body: {} })
    await service.run(id, 'seq 1 1000')
    await client.devboxes.shutdown({ params: { id } })

    expect(await prune(everything)).toMatchObject({ devboxes: 0 })
    expect(await statusOf(client.devboxes.get({ params: { id } }))).toBe(200)
    expect(hasFolder(id)).toBe(false)
    expect(await storedBytes()).toEqual({ snapshots: expect.any(Number) })
    const copy = await service.devbox({ snapshot_id: snapshot.id })

    await client.snapshots.delete({ params: { id: snapshot.id } })
    expect(await prune(everything)).toMatchObject({ devboxes: 1 })
    expect(await statusOf(client.devboxes.get({ params: { id } }))).toBe(404)
    expect(await statusOf(client.devboxes.get({ params: { id: copy } }))).toBe(200)
  })

  it('deletes the named jobs and devboxes of an account once they have ended, and no others', async () => {
    const client = await start()
    const [ended, other] = [await endedDevbox(), await endedDevbox()]
    const running = await service.devbox()
    const scenario_ids = await makeScenarios(client, 1)
    const job = (name: string, command: string) =>
      createJob(client, { type: 'scenarios', scenario_ids, agent_configs: [agent(name, command)] })
    const [done, unended] = [await job('solver', 'echo 1 > ~/answer'), await job('endless', 'sleep 1000')]
    await untilEnded(client, done.id)

    const body = { benchmark_jobs: [done.id, unended.id, 'bmj_none'], devboxes: [ended, running] }
    const { bytes: _, ...deleted } = await client.storage.deleteEnded({ body })
    expect(deleted).toEqual({ devboxes: 2, executions: 0, benchmark_jobs: 1, benchmark_runs: 1, scenario_runs: 1 })
    expect((await client.benchmarkJobs.list({ query: {} })).jobs.map(({ id }) => id)).toEqual([unended.id])
    expect(await statusOf(client.devboxes.get({ params: { id: ended } }))).toBe(404)
    for (const id of [other, running]) expect(await statusOf(client.devboxes.get({ params: { id } }))).toBe(200)
    expect(await statusOf(client.storage.deleteEnded({ body: { devboxes: 'all' } as never }))).toBe(400)
  })

  it('deletes ended jobs with their runs, trials, devboxes and logs', async () => {
    const client = await start()
    const scenario_ids = await makeScenarios(client, 2)
    const solver = agent('solver', 'echo 1 > ~/answer')
    const { id } = await createJob(client, { type: 'scenarios', scenario_ids, agent_configs: [solver] })
    const { benchmark_outcomes } = await untilEnded(client, id)
    const run = benchmark_outcomes?.[0]?.benchmark_run_id ?? ''
    const endless = agent('endless', 'sleep 1000')
    const unended = await createJob(client, { type: 'scenarios', scenario_ids, agent_configs: [endless] })

    expect(await prune(everything)).toMatchObject({
      devboxes: 2,
      benchmark_jobs: 1,
      benchmark_runs: 1,
      scenario_runs: 2,
    })
    expect(await statusOf(client.benchmarkJobs.get({ params: { id } }))).toBe(404)
    expect(await statusOf(client.benchmarkRuns.get({ params: { id: run } }))).toBe(404)
    expect((await client.scenarioRuns.list({ query: { benchmark_run_id: run } })).runs).toEqual([])
    expect((await client.benchmarkJobs.list({ query: {} })).jobs.map((job) => job.id)).toEqual([unended.id])
    expect((await client.scenarios.list({ query: {} })).scenarios).toHaveLength(2)
    // A job may have the name of one that was deleted.
    await service.restart()
    expect(await statusOf(client.benchmarkJobs.get({ params: { id: unended.id } }))).toBe(200)
  })

  it('keeps a job whose runs it has not deleted when the service stops', async () => {
    const client = await start()
    const scenario_ids = await makeScenarios(client, 1)
    const { id } = await createJob(client, { type: 'scenarios', scenario_ids, agent_configs: [agent('a', 'true')] })
    await untilEnded(client, id)
    await service.close()
    const database = openDatabase(join(dataDir, databaseName), { log: () => undefined })
    const store = createStores(database, join(dataDir, 'secrets-key'))
    const settled = { job: async () => undefined, devbox: async () => undefined }
    const folderOf = (devboxId: string) => join(dataDir, 'devboxes', devboxId)
    const runFolderOf = (runId: string) => join(dataDir, 'runs', runId)
    const [ended, quota] = [createEndedStore(database), new StorageQuota(0)]
    const retention = new Retention({ keepSeconds: 0, ended, store, quota, dataDir, folderOf, runFolderOf, settled })
    const deleted = retention.delete('test', { benchmark_jobs: [id], devboxes: [] })
    await retention.close()
    expect(await deleted).toEqual(nothing)
    expect(store.benchmarkJobs.find(id)).toBeDefined()
    expect(store.benchmarkRuns.ofJob(id)).toHaveLength(1)
    database.close()
  })

  it('expires by itself once the records are older than --keep-ended', async () => {
    const client = await start({ keepEndedSeconds: 1 })
    const id = await endedDevbox()
    expect((await client.storage.get()).keep_ended_seconds).toBe(1)
    await olderThanASecond(id)
    await service.restart()
    await expect.poll(() => statusOf(client.devboxes.get({ params: { id } }))).toBe(404)
  })

  it('leaves the data of an older release alone for a day', async () => {
    await start({ keepEndedSeconds: 0 })
    const id = await endedDevbox()
    await olderThanASecond(id)
    await service.close()
    const since = Date.now()
    const client = await start({ keepEndedSeconds: 1 })
    expect(Number(readFileSync(join(dataDir, 'retention-since'), 'utf8'))).toBeGreaterThan(since + 23 * 3600 * 1000)
    expect(await statusOf(client.devboxes.get({ params: { id } }))).toBe(200)
  })

  it('frees disk space before evicting a devbox', async () => {
    const before = await start()
    const [ended, running] = [await endedDevbox(), await service.devbox()]
    const scenario_ids = await makeScenarios(before, 1)
    const job = await createJob(before, { type: 'scenarios', scenario_ids, agent_configs: [agent('a', 'true')] })
    await untilEnded(before, job.id)
    const trial = (await before.scenarioRuns.list({ query: {} })).runs[0]?.id ?? ''
    const log = join(dataDir, 'runs', trial, 'agent.log')
    mkdirSync(dirname(log), { recursive: true })
    writeFileSync(log, 'a log')
    await service.close()
    const client = await start({
      pressure: { ...defaultPressure, minFreeMemoryBytes: 0, minFreeDiskBytes: Number.MAX_SAFE_INTEGER },
    })
    await expect.poll(() => hasFolder(ended)).toBe(false)
    expect(await statusOf(client.devboxes.get({ params: { id: ended } }))).toBe(404)
    await expect.poll(() => existsSync(join(dirname(log), 'logs-deleted.txt'))).toBe(true)
    expect(existsSync(log)).toBe(false)
    expect(await client.scenarioRuns.get({ params: { id: trial } })).toMatchObject({ state: 'completed' })
    const logs = await service.post(`/v1/scenarios/runs/${trial}/download_logs`)
    expect(await logs.text()).toContain('logs-deleted.txt')
    expect(await service.reach(running, 'running')).toMatchObject({ status: 'running' })
  })

  it('requires an age from a service that keeps everything', async () => {
    await start({ keepEndedSeconds: 0 })
    const authorization = `Bearer ${runningService(dataDir)?.operatorToken}`
    expect((await service.post('/local/prune', {}, { authorization })).status).toBe(400)
    expect((await service.post('/local/prune', everything)).status).toBe(403)
    expect((await service.client.storage.get()).keep_ended_seconds).toBeNull()
  })
})
