import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { type Exclusion, identifiedAttempts } from '#lib/protocol/marks.ts'
import type { CompareReport, Report, TrendReport } from '#lib/protocol/reports.ts'
import { harborJob, importJob } from '#lib/service/testing/harbor-job.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { judgmentStore } from '../judgment/marks.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { storedAccount } from '../upstream/client.ts'

type Rewards = Record<string, Record<string, readonly number[]>>

/** Rewards of the attempts per agent and task. */
const rewards: Rewards = {
  A: { t1: [1, 1], t2: [1, 0], t3: [1, 1], t4: [0, 0], t5: [1, 1], t6: [0, 1] },
  B: { t1: [1, 0], t2: [0, 0], t3: [0, 0], t4: [0, 0], t5: [1, 1], t6: [0, 0] },
}
const laterRewards: Rewards = { A: { t1: [0, 0], t2: [0, 0], t3: [1, 1], t4: [0, 0], t5: [1, 1], t6: [1, 1] } }

let service: TestService
let gateway: TestConsole
let cookie: string
let job: BenchmarkJob
let later: BenchmarkJob
const importRewards = async (agents: Rewards, hour: number) => {
  const trials = Object.entries(agents).flatMap(([agent, tasks]) =>
    Object.entries(tasks).flatMap(([task, attempts]) =>
      attempts.map(
        (reward, at) =>
          [`${task}__${agent}${hour}${at + 1}`, { task, reward, agent, at: hour * 3600 + at * 60 }] as const,
      ),
    ),
  )
  const id = `5c1c0f6e-0000-4000-8000-00000000000${hour}`
  return (await importJob(service, harborJob(Object.fromEntries(trials), { id }))).job
}
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
  gateway = await startConsole(service)
  cookie = `${await gateway.signIn(service.key)}; devdeck-name=Ada`
  job = await importRewards(rewards, 1)
  later = await importRewards(laterRewards, 2)
})
afterAll(async () => {
  await gateway.close()
  await service.close()
})
beforeEach(async () => {
  for (const { id } of [job, later])
    for (const each of (await gateway.ask(cookie, 'GET', `/api/judgment/exclusions?job_id=${id}`)).body.exclusions)
      await restore(each)
})

const text = async (search: string, id = job.id) => {
  const response = await gateway.fetch(`/api/benchmark-jobs/${id}${search}`, { cookie })
  expect(response.status).toBe(200)
  return response.text()
}
const report = async (search = ''): Promise<Report> => JSON.parse(await text(`/report${search}`))
const compared = async (search = ''): Promise<CompareReport> =>
  JSON.parse(await text(`/report?jobs=${job.id},${later.id}${search}`, 'compare'))

const attemptOf = (of: BenchmarkJob, agent: string, task: string, position: number) => {
  const at = of.benchmark_outcomes?.findIndex(({ agent_name }) => agent_name === agent) ?? -1
  const own = identifiedAttempts(of)[at]?.find((each) => each.scenario_name === task && each.position === position)
  if (!own) throw new Error(`${task} ${position} is missing`)
  return { scenario_id: own.scenario_id, attempt_id: own.attempt_id }
}
const scenario = (task: string) => ({ scenario_id: attemptOf(job, 'A', task, 1).scenario_id })
const exclude = async (of: BenchmarkJob, items: object[], note = ''): Promise<Exclusion[]> => {
  const body = { job_id: of.id, items, reason: 'broken_task', note }
  return (await gateway.ask(cookie, 'POST', '/api/judgment/exclusions', body)).body.exclusions
}
const restore = ({ id }: Exclusion) => gateway.ask(cookie, 'DELETE', `/api/judgment/exclusions/${id}`)

const six = (value: unknown): unknown =>
  typeof value === 'number'
    ? Math.round(value * 1e6) / 1e6
    : value && typeof value === 'object'
      ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, six(each)]))
      : value
const figures = ({ agents }: Pick<Report, 'agents'>) =>
  agents.map(({ agent_name, mean, se, ci_low, ci_high, n_scenarios, n_attempts, n_passed, pass_at_k }) =>
    six({ agent_name, mean, se, ci_low, ci_high, n_scenarios, n_attempts, n_passed, pass_at_k }),
  )
const pairOf = ({ pairs: [pair] }: { pairs: Report['pairs'] }) => {
  if (!pair) throw new Error('No pair')
  const { n, difference, se, ci_low, ci_high, p_value, only_a_passes, only_b_passes, mcnemar_p } = pair
  return six({ n, difference, se, ci_low, ci_high, p_value, only_a_passes, only_b_passes, mcnemar_p })
}
const rowsOf = (csv: string): Record<string, string>[] => {
  const [head = [], ...rows] = csv
    .trim()
    .split('\r\n')
    .map((line) => line.slice(1, -1).split('","'))
  return rows.map((cells) => Object.fromEntries(head.map((name, at) => [name, cells[at] ?? ''])))
}

/** Of A and B with all attempts: means 1, .5, 1, 0, 1, .5 and .5, 0, 0, 0, 1, 0. */
const whole = [
  { mean: 0.666667, se: 0.166667, ci_low: 0.238236, ci_high: 1, n_scenarios: 6, n_attempts: 12, n_passed: 3 },
  { mean: 0.25, se: 0.170783, ci_low: 0, ci_high: 0.68901, n_scenarios: 6, n_attempts: 12, n_passed: 1 },
]
/** Without t6 and the failed attempt of A at t2: means 1, 1, 1, 0, 1 and .5, 0, 0, 0, 1. */
const left = [
  { mean: 0.8, se: 0.2, ci_low: 0.244711, ci_high: 1, n_scenarios: 5, n_attempts: 9, n_passed: 4 },
  { mean: 0.3, se: 0.2, ci_low: 0, ci_high: 0.855289, n_scenarios: 5, n_attempts: 10, n_passed: 1 },
]

it('leaves excluded attempts out of every figure, next to the figures with them', async () => {
  const before = await report()
  expect(figures(before)).toMatchObject(whole)
  expect([before.exclusions, before.labels]).toEqual([null, []])
  const [t6, t2] = await exclude(job, [scenario('t6'), attemptOf(job, 'A', 't2', 2)], 'needs =network | DNS')

  const after = await report()
  expect(figures(after)).toMatchObject(left)
  expect(figures(after).map((each) => (each as Report['agents'][number]).pass_at_k)).toEqual([
    { 1: 0.8 },
    { 1: 0.3, 2: 0.4 },
  ])
  expect(pairOf(after)).toEqual({
    n: 5,
    difference: 0.5,
    se: 0.223607,
    ci_low: -0.120832,
    ci_high: 1,
    p_value: 0.25,
    only_a_passes: 3,
    only_b_passes: 0,
    mcnemar_p: 0.25,
  })
  expect(after.failure_groups.reduce((sum, { n_attempts }) => sum + n_attempts, 0)).toBe(9)
  expect(after.agents.map(({ n_planned }) => n_planned)).toEqual([9, 10])
  expect(after.verdict.more).toContain('Excluded: 1 scenario and 1 attempt.')
  expect(after.exclusions).toMatchObject({
    applied: true,
    rule: "Excluded attempts don't count toward any figure. A scenario is excluded for all agents; an attempt only from the mean of its scenario.",
    items: [
      { ...t6, n_attempts: 4, attempt: null },
      { ...t2, n_attempts: 1, attempt: { benchmark_run_id: after.agents[0]?.benchmark_run_id, position: 2 } },
    ],
    without: { agents: before.agents, pairs: before.pairs, verdict: before.verdict },
  })

  const headers = { authorization: `Bearer ${service.key}` }
  const read = await gateway.fetch(`/api/benchmark-jobs/${job.id}/report`, { headers })
  expect(await read.json()).toEqual(after)
  const ignored = await report('?exclusions=ignore')
  expect(ignored).toMatchObject({ agents: before.agents, pairs: before.pairs, verdict: before.verdict })
  expect(ignored.exclusions).toMatchObject({ applied: false, items: [{ id: t6?.id }, { id: t2?.id }], without: null })

  for (const each of [t6, t2]) if (each) await restore(each)
  const others = await exclude(job, [attemptOf(job, 'A', 't2', 1), scenario('t4'), scenario('t6')])
  const failed = { benchmark_run_id: after.agents[0]?.benchmark_run_id, ...scenario('t2'), attempt: 2 }
  expect((await report()).failure_groups.map(({ first }) => first)).toEqual([failed])
  for (const each of others) await restore(each)
  expect(await report()).toEqual(before)
})

it('has the same figures in CSV, Markdown and HTML', async () => {
  const json = await report()
  await exclude(job, [scenario('t6'), attemptOf(job, 'A', 't2', 2)], 'needs =network | DNS')
  const rows = rowsOf(await text('/report?format=csv'))
  expect(rows.map(({ agent_name, exclusions, mean }) => [agent_name, exclusions, Number(mean)])).toEqual([
    ['A', 'applied', 0.8],
    ['B', 'applied', 0.3],
    ...json.agents.map(({ agent_name, mean }) => [agent_name, 'ignored', mean]),
  ])
  const pairRows = rowsOf(await text('/report?format=csv&table=pairs'))
  expect(pairRows.map(({ exclusions, difference, mcnemar_p }) => [exclusions, difference, mcnemar_p])).toEqual([
    ['applied', '0.5', '0.25'],
    ['ignored', `${json.pairs[0]?.difference}`, '0.5'],
  ])
  expect(rowsOf(await text('/report?format=csv&table=exclusions'))).toMatchObject([
    { scenario_name: 't6', reason: 'broken_task', note: 'needs =network | DNS', by: 'Ada (unverified)', attempt: '' },
    { scenario_name: 't2', n_attempts: '1', attempt: '2', benchmark_run_id: json.agents[0]?.benchmark_run_id },
  ])
  const markdown = await text('/report?format=md')
  const [counted = '', others = ''] = markdown.split('### With nothing excluded')
  expect(counted).toMatch(/\| A · acme\/large \| 0\.800 \| 0\.245 to 1\.000 \| 5 \| 9 \|/)
  expect(counted).toMatch(
    /\| t6 \| All agents \| 4 \| Broken task \| needs =network \\\| DNS \| Ada \(unverified\), 20/,
  )
  expect(counted).toMatch(/\| t2 \| Attempt 2 of A · acme\/large \| 1 \|/)
  expect(others).toMatch(/\| A · acme\/large \| 0\.667 \| 0\.238 to 1\.000 \| 6 \| 12 \|/)
  expect(others).toMatch(/\| A · acme\/large vs B · acme\/large \| 0\.417 \|.* 2 \| 0 \| 0\.500 \| no/)
  const [countedHtml = '', othersHtml = ''] = (await text('/report?format=html')).split('With nothing excluded')
  expect(countedHtml).toContain('5 scenarios by agent')
  expect(countedHtml).not.toMatch(/>0\.667</)
  expect(othersHtml).toMatch(/0\.667/)
})

it('excludes a scenario in all compared jobs and an attempt only in its own', async () => {
  const before = await compared()
  expect(six(before.pairs[0]?.difference)).toBe(-0.166667)
  await exclude(later, [scenario('t6')])
  await exclude(job, [attemptOf(job, 'A', 't2', 1), attemptOf(job, 'A', 't2', 2)])
  const after = await compared('&gate=non_inferior&margin=0.6')
  // A: 1, 1, 0, 1 before, and later 0, 0, 1, 0, 1, of which t2 has no counterpart.
  expect(figures(after)).toMatchObject([
    { agent_name: 'A', mean: 0.75, n_scenarios: 4 },
    { agent_name: 'B', mean: 0.3, n_scenarios: 5 },
    { agent_name: 'A', mean: 0.4, n_scenarios: 5 },
  ])
  expect(pairOf(after)).toMatchObject({ n: 4, difference: -0.25, se: 0.25, p_value: 1, only_b_passes: 1 })
  // The lower bound is -0.25 - 3.182446 * 0.25.
  expect(six(after.gate?.runs[0]?.bound)).toBe(-1)
  expect(after.gate?.sentence).toMatch(/^Gate failed .* Excluded: 1 scenario and 2 attempts\.$/)
  expect(after.exclusions?.items.map(({ job_id, n_attempts }) => [job_id, n_attempts])).toEqual([
    [job.id, 1],
    [job.id, 1],
    [later.id, 6],
  ])
  expect(after.exclusions?.rule).toContain('in all jobs of this report')
  expect(after.exclusions?.without).toEqual({ agents: before.agents, pairs: before.pairs, verdict: before.verdict })
  expect(await compared('&exclusions=ignore')).toMatchObject({ agents: before.agents, pairs: before.pairs })
  const csv = rowsOf(await text(`/report?jobs=${job.id},${later.id}&format=csv&table=pairs`, 'compare'))
  expect(csv.map(({ exclusions, difference }) => [exclusions, six(Number(difference))])).toEqual([
    ['applied', -0.25],
    ['ignored', -0.166667],
  ])
  const html = await text(`/report?jobs=${job.id},${later.id}&format=html`, 'compare')
  const share = { kind: 'comparison', params: { jobs: `${job.id},${later.id}` } }
  const { url } = (await gateway.ask(cookie, 'POST', '/api/shares', share)).body
  for (const document of [html, await (await gateway.fetch(new URL(url).pathname)).text()]) {
    expect(document).toContain('5 scenarios by agent')
    expect(document).toMatch(/t6<span class="sub">All agents/)
  }
})

it('applies to trends, which list exclusions of their agent only', async () => {
  await exclude(job, [scenario('t6'), attemptOf(job, 'B', 't1', 2)])
  const trend = async (search: string) => text(`?job=${job.id}&agent=A${search}`, 'trend')
  const { points, exclusions }: TrendReport = JSON.parse(await trend(''))
  expect(points.map(({ figures, change }) => six([figures.mean, figures.n_scenarios, change?.difference]))).toEqual([
    six([0.7, 5, undefined]),
    six([0.4, 5, -0.3]),
  ])
  expect(exclusions?.items.map(({ scenario_name, n_attempts }) => [scenario_name, n_attempts])).toEqual([['t6', 4]])
  const rows = rowsOf(await trend('&format=csv'))
  expect(rows.map(({ exclusions, change_difference }) => [exclusions, six(Number(change_difference))])).toEqual([
    ['applied', 0],
    ['applied', -0.3],
    ['ignored', 0],
    ['ignored', -0.166667],
  ])
  expect(rowsOf(await trend('&format=csv&table=exclusions'))).toMatchObject([{ scenario_name: 't6' }])
  expect(await trend('&format=md')).toMatch(/With nothing excluded.*\| 0\.667 \|/s)
  expect(await trend('&format=html')).toMatch(/With nothing excluded.*0\.667/s)
})

it('says so if everything is excluded, or an exclusion matches nothing', async () => {
  const { id } = await service.client.accounts.me({})
  const gone = { job_id: job.id, scenario_id: 'scn_gone', scenario_name: 'gone', note: '', by: 'Ada', at_ms: 1 }
  judgmentStore().exclude(storedAccount(id), [{ ...gone, attempt_id: null, reason: 'other' }])
  const whole = await report()
  expect(whole.exclusions?.items).toMatchObject([{ scenario_name: 'gone', n_attempts: 0 }])
  expect(whole.verdict).toEqual(whole.exclusions?.without?.verdict)
  await exclude(job, ['t1', 't2', 't3', 't4', 't5', 't6'].map(scenario))
  const { agents, pairs, verdict, failure_groups } = await report()
  expect(verdict).toEqual({
    lead: 'Every attempt is excluded, so there is no score.',
    more: ['Excluded: 6 scenarios.'],
    tone: 'neutral',
  })
  expect(agents.map(({ mean, n_scenarios, n_planned }) => [mean, n_scenarios, n_planned])).toEqual([
    [null, 0, 0],
    [null, 0, 0],
  ])
  expect([pairs[0]?.difference, pairs[0]?.n, failure_groups]).toEqual([null, 0, []])
  for (const format of ['csv', 'md', 'html'])
    expect(await text(`/report?format=${format}`)).not.toMatch(/NaN|Infinity|undefined/)
  expect((await compared()).verdict?.lead).toBe('Every attempt is excluded, so there is no score.')
})

it('counts labels by agent without affecting any figure', async () => {
  const before = await report()
  const items = [attemptOf(job, 'A', 't6', 1), attemptOf(job, 'A', 't4', 2), attemptOf(job, 'B', 't6', 1)]
  await gateway.ask(cookie, 'POST', '/api/judgment/labels', { job_id: job.id, items, label: 'flaky', note: '' })
  await exclude(job, [scenario('t6')])
  const [a = '', b = ''] = before.agents.map(({ benchmark_run_id }) => benchmark_run_id)
  const { labels } = await report()
  expect(labels).toEqual([
    {
      label: 'flaky',
      n_attempts: 3,
      agents: [
        { benchmark_run_id: a, n: 2 },
        { benchmark_run_id: b, n: 1 },
      ],
    },
  ])
  expect(await report('?exclusions=ignore')).toMatchObject({ agents: before.agents, labels })
  const rows = rowsOf(await text('/report?format=csv&table=labels'))
  expect(rows).toMatchObject([
    { label: 'flaky', agent_name: 'A', n_attempts: '2' },
    { label: 'flaky', agent_name: 'B', n_attempts: '1' },
  ])
  expect(await text('/report?format=md')).toContain('| flaky | 3 | A · acme/large 2, B · acme/large 1 |')
  expect(await text('/report?format=html')).toContain('A · acme/large 2, B · acme/large 1')
})
