import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BenchmarkJobImported } from '#lib/contract/benchmark-jobs.ts'
import type { CompareReport, Report } from '#lib/protocol/reports.ts'
import { harborJob, zipOf } from '#lib/service/testing/harbor-job.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { startConsole, type TestConsole } from '../testing.ts'

let service: TestService
let gateway: TestConsole
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
  gateway = await startConsole(service)
})
afterAll(async () => {
  await gateway.close()
  await service.close()
})

/** Imports a Harbor job with one trial per agent and reward; returns its id. */
const importJob = async (
  id: string,
  rewards: Record<string, readonly object[]>,
  more: object = {},
): Promise<string> => {
  const trials = Object.entries(rewards).flatMap(([agent, all]) =>
    all.map((each, at) => [
      `task-${at}-${agent}__aaaaaaa`,
      { task: `task-${at}`, agent, more: { verifier_result: { rewards: each }, ...more } },
    ]),
  )
  const form = new FormData()
  form.append('file', await zipOf(harborJob(Object.fromEntries(trials), { id })), 'job.zip')
  const response = await service.fetch('/v1/benchmark_jobs/import', { method: 'POST', body: form })
  const imported: BenchmarkJobImported = await response.json()
  expect(response.status, JSON.stringify(imported)).toBe(200)
  return imported.job_id
}
const ask = (path: string) =>
  gateway.fetch(`/api/benchmark-jobs/${path}`, { headers: { authorization: `Bearer ${service.key}` } })
const reportOf = async (id: string, search = ''): Promise<Report> => (await ask(`${id}/report${search}`)).json()
const rewards = (...values: number[]) => values.map((reward) => ({ reward }))
const six = (value: number) => rewards(...Array<number>(6).fill(value))

it('judges a lead the same with and without controls', async () => {
  const [alone, together] = [
    await reportOf(await importJob('alone', { a: six(1), b: six(0) })),
    await reportOf(await importJob('together', { a: six(1), oracle: six(1), b: six(0), nop: six(0) })),
  ]
  const pairOf = ({ pairs }: Report) => pairs.find(({ a, b }) => [a.agent_name, b.agent_name].join() === 'a,b')
  expect(pairOf(alone)).toMatchObject({ p_value: 0.03125, p_adjusted: 0.03125, significant: true, ci_low: null })
  expect(pairOf(together)).toMatchObject({ p_value: 0.03125, p_adjusted: 0.03125, significant: true, ci_low: null })
  expect(together.verdict.lead).toBe(alone.verdict.lead)
  expect(together.agents.map(({ agent_name, rank_low }) => `${agent_name} ${rank_low}`).sort()).toEqual([
    'a 1',
    'b 2',
    'nop null',
    'oracle null',
  ])
})

describe('rewards outside 0 and 1', () => {
  const low = [40, 41, 42, 43, 44, 45, 46, 47]

  it('are compared unchanged and pass only at a threshold', async () => {
    const id = await importJob('beyond', { high: rewards(...low.map((each) => each + 30)), low: rewards(...low) })
    const report = await reportOf(id)
    expect(report.agents.map(({ mean, n_passed }) => [mean, n_passed])).toEqual([
      [73.5, null],
      [43.5, null],
    ])
    expect(report.pairs[0]).toMatchObject({ difference: 30, n: 8, mcnemar_p: null, significant: true })
    expect(report.verdict.lead).toMatch(/^high · acme\/large leads low · acme\/large by 30\.000 /)
    expect(JSON.stringify([report.verdict, report.notes])).not.toMatch(/passes if/)
    expect((await reportOf(id, '?threshold=45')).agents.map(({ n_passed }) => n_passed)).toEqual([8, 3])
    const compared: CompareReport = await (await ask(`compare?jobs=${id}&threshold=45`)).json()
    expect([compared.threshold, compared.pairs[0]?.new_failures?.length]).toEqual([45, 5])
  })

  it('may be negative', async () => {
    const { agents } = await reportOf(await importJob('negative', { a: rewards(-1, 2, 0.5, 1.5, 0.25) }))
    expect(agents[0]?.mean).toBeCloseTo(0.65, 12)
  })
})

it.each([
  [{ accuracy: 0.25, latency_sec: 12 }, 'accuracy', 0.25],
  [{ tests_passed: 3, tests_total: 20 }, 'tests_passed', 3],
  [{ correctness: 1, style: 0.5, speed: 0 }, 'correctness', 1],
  [{ style: 0.5, reward: 0.75 }, 'reward', 0.75],
])('judges %o by one key, or another on request', async (keys, judged, mean) => {
  const id = await importJob(`keys ${Object.keys(keys)}`, { a: [keys] })
  const report = await reportOf(id)
  expect([report.metric, report.metrics, report.agents[0]?.mean]).toEqual([judged, Object.keys(keys), mean])
  for (const [metric, value] of Object.entries(keys)) {
    const chosen = await reportOf(id, `?metric=${metric}`)
    expect([chosen.metric, chosen.agents[0]?.mean]).toEqual([metric, value])
    for (const format of ['csv', 'md'])
      expect(await (await ask(`${id}/report?metric=${metric}&format=${format}`)).text()).toContain(metric)
  }
})

it('has no durations for trials without times', async () => {
  const id = await importJob('timeless', { a: rewards(1, 0.25) }, { started_at: null, finished_at: null })
  const [figures] = (await reportOf(id)).agents
  expect([figures?.duration_median_ms, figures?.duration_p95_ms]).toEqual([null, null])
  expect(await (await ask(`${id}/report?format=md`)).text()).not.toMatch(/1970|\b0\.0 s/)
})
