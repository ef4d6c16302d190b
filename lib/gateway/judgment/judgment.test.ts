import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import type { Activity } from '#lib/protocol/activity.ts'
import { type Exclusion, identifiedAttempts, type Label, markLimits } from '#lib/protocol/marks.ts'
import { harborJob, importJob } from '#lib/service/testing/harbor-job.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { storedAccount } from '../upstream/client.ts'
import { JudgmentStore } from './judgment-store.ts'
import { judgmentStore } from './marks.ts'

/** Rewards of two attempts per task. */
const rewards: Record<string, Record<string, [number, number]>> = {
  A: { t1: [1, 1], t2: [1, 0], t3: [1, 1], t4: [0, 0], t5: [1, 1], t6: [0, 1] },
  B: { t1: [1, 0], t2: [0, 0], t3: [0, 0], t4: [0, 0], t5: [1, 1], t6: [0, 0] },
}

const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-judgment-'))
let service: TestService
let gateway: TestConsole
let job: BenchmarkJob
let cookie: string
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
  gateway = await startConsole(service, { dataDir })
  cookie = `${await gateway.signIn(service.key)}; devdeck-name=Ada`
  const trials = Object.entries(rewards).flatMap(([agent, tasks]) =>
    Object.entries(tasks).flatMap(([task, attempts]) =>
      attempts.map((reward, at) => [`${task}__${agent}${at + 1}`, { task, reward, agent, at: at * 60 }] as const),
    ),
  )
  job = (await importJob(service, harborJob(Object.fromEntries(trials)))).job
})
afterAll(async () => {
  await gateway.close()
  await service.close()
  rmSync(dataDir, { recursive: true })
})

const call = (method: string, path: string, body?: unknown, as = cookie) =>
  gateway.ask(as, method, `/api/judgment${path}`, body)

const attemptsOf = (agent: string, task: string) => {
  const at = job.benchmark_outcomes?.findIndex(({ agent_name }) => agent_name === agent) ?? -1
  return (identifiedAttempts(job)[at] ?? []).filter(({ scenario_name }) => scenario_name === task)
}
const scenario = (task: string) => attemptsOf('A', task)[0]?.scenario_id ?? ''
const itemOf = (agent: string, task: string, attempt: number) => ({
  scenario_id: scenario(task),
  attempt_id: attemptsOf(agent, task)[attempt - 1]?.attempt_id,
})

describe('exclusions', () => {
  it('200 excludes and restores, with authors, history and activity', async () => {
    const made = await call('POST', '/exclusions', {
      job_id: job.id,
      items: [{ scenario_id: scenario('t6') }, itemOf('A', 't2', 2)],
      reason: 'broken_task',
      note: 'The verifier needs a network',
    })
    const [first, second] = made.body.exclusions as Exclusion[]
    expect(made.status).toBe(200)
    expect(first).toMatchObject({
      scenario_name: 't6',
      attempt_id: null,
      by: 'Ada (unverified)',
      reason: 'broken_task',
    })
    expect(second).toMatchObject({ scenario_name: 't2', attempt_id: itemOf('A', 't2', 2).attempt_id })
    const again = { job_id: job.id, items: [{ scenario_id: scenario('t6') }], reason: 'infrastructure' }
    expect((await call('POST', '/exclusions', again)).body.exclusions).toEqual([first])

    expect((await call('DELETE', `/exclusions/${first?.id}`)).status).toBe(200)
    expect((await call('DELETE', `/exclusions/${first?.id}`)).body).toMatchObject({ code: 'not_found' })
    const { exclusions, history } = (await call('GET', `/exclusions?job_id=${job.id}`)).body
    expect(exclusions).toEqual([second])
    expect(history).toEqual([{ ...first, removed_by: 'Ada (unverified)', removed_at_ms: expect.any(Number) }])
    const { activities } = (await gateway.ask(cookie, 'GET', '/api/activity?search=judgment')).body
    expect((activities as Activity[]).map(({ operation, subject }) => [operation, subject])).toEqual([
      ['judgment.restore', `${job.id}/${first?.id}`],
      ['judgment.exclude', job.id],
      ['judgment.exclude', job.id],
    ])
  })

  it('400 and 404 for what the job does not have', async () => {
    const post = async (more: object) => {
      const items = [{ scenario_id: scenario('t1') }]
      const { status, body } = await call('POST', '/exclusions', { job_id: job.id, items, reason: 'other', ...more })
      return [status, body.field]
    }
    expect(await post({})).toEqual([400, 'note'])
    expect(await post({ reason: 'bad luck' })).toEqual([400, 'reason'])
    expect(await post({ reason: 'broken_task', items: [] })).toEqual([400, 'items'])
    expect(await post({ note: 'x'.repeat(markLimits.noteLength + 1) })).toEqual([400, 'note'])
    expect(await post({ note: 'x', items: [{ scenario_id: 'scn_none' }] })).toEqual([400, 'items.0.scenario_id'])
    const ofOther = { scenario_id: scenario('t1'), attempt_id: itemOf('A', 't2', 1).attempt_id }
    expect(await post({ note: 'x', items: [ofOther] })).toEqual([400, 'items.0.attempt_id'])
    expect(await post({ note: 'x', job_id: 'bmj_none' })).toEqual([404, 'job_id'])
  })

  it('keeps them across restarts and hides them from other accounts', async () => {
    const other = await gateway.signIn(service.otherKey)
    const [own] = (await call('GET', `/exclusions?job_id=${job.id}`)).body.exclusions as Exclusion[]
    expect((await call('GET', `/exclusions?job_id=${job.id}`, undefined, other)).body.exclusions).toEqual([])
    expect((await call('DELETE', `/exclusions/${own?.id}`, undefined, other)).status).toBe(404)
    const items = [{ scenario_id: scenario('t1') }]
    const foreign = { job_id: job.id, items, reason: 'broken_task' }
    expect((await call('POST', '/exclusions', foreign, other)).status).toBe(404)

    await gateway.close()
    gateway = await startConsole(service, { dataDir })
    cookie = `${await gateway.signIn(service.key)}; devdeck-name=Ada`
    expect((await call('GET', `/exclusions?job_id=${job.id}`)).body.exclusions).toEqual([own])
  })
})

describe('labels', () => {
  it('200 labels attempts and removes labels', async () => {
    const items = [itemOf('B', 't1', 1), itemOf('B', 't5', 2)]
    const made = await call('POST', '/labels', {
      job_id: job.id,
      items,
      label: ' reward hacking ',
      note: 'edits the test',
    })
    const [first, second] = made.body.labels as Label[]
    expect(first).toMatchObject({
      label: 'reward hacking',
      note: 'edits the test',
      by: 'Ada (unverified)',
      ...items[0],
    })
    expect((await call('DELETE', `/labels/${first?.id}`)).status).toBe(200)
    expect((await call('GET', `/labels?job_id=${job.id}`)).body).toEqual({ labels: [second] })
  })

  it('400 for labels that are empty, too long or broken into lines', async () => {
    for (const label of ['', ' ', 'x'.repeat(markLimits.labelLength + 1), 'two\nlines'])
      expect(
        (await call('POST', '/labels', { job_id: job.id, items: [itemOf('A', 't1', 1)], label })).body,
      ).toMatchObject({
        code: 'invalid_argument',
        field: 'label',
      })
  })
})

it('excludes again what was restored', () => {
  const store = new JudgmentStore(mkdtempSync(join(dataDir, 'again-')))
  const mark = { job_id: 'bmj_1', scenario_name: 's', note: '', by: 'Ada', at_ms: 1 }
  const exclusion = { ...mark, scenario_id: 's', attempt_id: null, reason: 'broken_task' as const }
  store.exclude('a', [exclusion, exclusion])
  expect([store.count('a', 'exclusions'), store.count('b', 'exclusions')]).toEqual([1, 0])
  store.restore('a', store.exclusions('a', 'bmj_1')[0]?.id ?? '', 'Ben', 2)
  store.exclude('a', [exclusion])
  expect([store.count('a', 'exclusions'), store.removedExclusions('a', 'bmj_1').length]).toEqual([1, 1])
  store.close()
})

it('409 over the limit of an account', async () => {
  const { id } = await service.client.accounts.me({})
  const label = { job_id: 'bmj_1', scenario_id: 's', scenario_name: 's', label: 'flaky', note: '', by: 'Ada', at_ms: 1 }
  const labels = Array.from({ length: markLimits.perAccount }, (_, at) => ({ ...label, attempt_id: `${at}` }))
  judgmentStore().label(storedAccount(id), labels)
  const one = { job_id: job.id, items: [itemOf('A', 't1', 1)], label: 'flaky' }
  expect(await call('POST', '/labels', one)).toMatchObject({ status: 409, body: { code: 'conflict' } })
})
