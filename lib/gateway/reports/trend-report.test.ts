import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import type { TrendReport } from '#lib/protocol/reports.ts'
import { agent, createJob, makeScenarios, untilEnded } from '#lib/service/testing/jobs.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { isOnDataSetOf } from './trend-report.ts'

/** An agent that answers scenario i with the i-th score. */
const scriptedAgent = (name: string, scores: string, more: object = {}) =>
  agent(
    name,
    `case $(<"$HARBOR_INSTRUCTION_FILE") in
      ${scores
        .split(' ')
        .map((score, i) => `${i}) echo ${score} > ~/answer ;;`)
        .join('\n')}
    esac`,
    more,
  )

let service: TestService
let gateway: TestConsole
let jobs: BenchmarkJob[]
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
  gateway = await startConsole(service)
  const scenario_ids = await makeScenarios(service.client, 8)
  const others = await makeScenarios(service.client, 1)
  const run = async (ids: string[], agents: object[]) => {
    const spec = { type: 'scenarios' as const, scenario_ids: ids, agent_configs: agents as never }
    const { id } = await createJob(service.client, { ...spec, orchestrator_config: { n_concurrent_trials: 8 } })
    return untilEnded(service.client, id)
  }
  jobs = [
    await run(scenario_ids, [scriptedAgent('solver', '1 1 1 1 1 1 1 0'), scriptedAgent('other', '0 0 0 0 0 0 0 0')]),
    // Half a point better at the last scenario.
    await run(scenario_ids, [scriptedAgent('solver', '1 1 1 1 1 1 1 0.5')]),
    await run(others, [scriptedAgent('solver', '0')]),
    // Worse at seven of eight.
    await run(scenario_ids, [scriptedAgent('solver', '0 0 0 0 0 0 0 0.5')]),
    // Without the last two scenarios.
    await run(scenario_ids.slice(0, 6), [scriptedAgent('solver', '0 0 0 0 0 0')]),
    await run(scenario_ids, [scriptedAgent('solver', '1 0 0 0 0 0 1 0', { timeout_seconds: 60 })]),
  ]
}, 180_000)
afterAll(async () => {
  await gateway.close()
  await service.close()
})

const request = (search: string, headers: Record<string, string> = { authorization: `Bearer ${service.key}` }) =>
  gateway.fetch(`/api/benchmark-jobs/trend${search}`, { headers })
const trend = async (search = `?job=${jobs[0]?.id}`): Promise<TrendReport> => (await request(search)).json()
const six = (value: number | null | undefined) => (value == null ? value : Math.round(value * 1e6) / 1e6)
const idOf = (at: number) => jobs[at]?.id

describe('GET /api/benchmark-jobs/trend', () => {
  it("200 with an agent's mean and change per job", async () => {
    const { points, agents, n_jobs_of_data_set, ...report } = await trend()
    expect(n_jobs_of_data_set).toBe(5)
    expect(agents).toEqual([
      { agent_name: 'solver', model_name: null, n_jobs: 5 },
      { agent_name: 'other', model_name: null, n_jobs: 1 },
    ])
    expect([report.agent_name, report.model_name, report.rule, report.complete]).toEqual(['solver', null, 'zero', true])
    expect(report.data_set).toMatchObject({ job_id: idOf(0), n_scenarios: 8, benchmark_name: null })
    // The third job uses another dataset.
    expect(points.map(({ job }) => job.id)).toEqual([idOf(0), idOf(1), idOf(3), idOf(4), idOf(5)])
    expect(points.map(({ figures }) => [figures.mean, figures.n_scenarios])).toEqual([
      [7 / 8, 8],
      [7.5 / 8, 8],
      [0.5 / 8, 8],
      [0, 6],
      [2 / 8, 8],
    ])
    const changes = points.map(
      ({ change }) => change && [change.b.job_id, change.n, six(change.difference), change.p_value],
    )
    expect(changes).toEqual([
      null,
      [idOf(0), 8, 0.0625, 1],
      // Seven of eight differ by -1: 2 of 128 sign patterns.
      [idOf(1), 8, -0.875, 2 / 128],
      [idOf(3), 6, 0, 1],
      [idOf(4), 6, six(1 / 6), 1],
    ])
    // Holm over four changes: 8 / 128 is above 0.05.
    expect(points[2]?.change?.p_adjusted).toBe(8 / 128)
    expect(points.map(({ regression }) => regression)).toEqual([null, null, 'possible', null, null])
    expect(points[2]?.change?.new_failures?.map(({ scenario_name }) => scenario_name).sort()).toEqual(
      [0, 1, 2, 3, 4, 5, 6].map((i) => `scenario ${i}`),
    )
  })

  it('200 with a significant regression and other differences', async () => {
    const { points, has_older_jobs, n_jobs_read } = await trend(`?job=${idOf(0)}&last=4`)
    expect([points.length, has_older_jobs, n_jobs_read]).toEqual([4, true, 5])
    // Three changes: 6 / 128 is below 0.05.
    expect(points[1]).toMatchObject({
      job: { id: idOf(3) },
      regression: 'significant',
      change: { significant: true, p_adjusted: 6 / 128 },
    })
    expect(points.map(({ incomparable }) => incomparable.map(({ kind }) => kind))).toEqual([
      [],
      ['agents'],
      ['scenarios', 'agents'],
      ['scenarios', 'timeouts', 'agents'],
    ])
  })

  it('200 with the same figures as CSV and Markdown', async () => {
    const { points } = await trend()
    const csv = await request(`?job=${idOf(0)}&format=csv`)
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    const [head = [], ...rows] = (await csv.text())
      .trim()
      .split('\r\n')
      .map((line) => line.slice(1, -1).split('","'))
    const columns = ['job_id', 'mean', 'n_scenarios', 'change_difference', 'change_p_adjusted', 'regression']
    expect(rows.map((row) => columns.map((column) => row[head.indexOf(column)]))).toEqual(
      points.map(({ job, figures, change, regression }) =>
        [job.id, figures.mean, figures.n_scenarios, change?.difference, change?.p_adjusted, regression].map(
          (value) => `${value ?? ''}`,
        ),
      ),
    )
    const markdown = await (await request(`?job=${idOf(0)}&format=md`)).text()
    for (const { figures } of points) expect(markdown).toContain(`| ${figures.mean?.toFixed(3)} |`)
  })

  it.each([
    ['', 'job'],
    ['?job=bmj_1&last=0', 'last'],
    ['?job=bmj_1&last=51', 'last'],
    ['?job=bmj_1&last=all', 'last'],
    ['?job=bmj_1&since=1', 'since'],
  ])('400 for "%s"', async (search, field) => {
    const answer = await request(search)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ code: 'invalid_argument', field })
  })

  it('401 without a key, 404 for an unknown job and for one of another account', async () => {
    expect((await request(`?job=${idOf(0)}`, {})).status).toBe(401)
    expect((await request('?job=bmj_none')).status).toBe(404)
    expect((await request(`?job=${idOf(0)}`, { authorization: `Bearer ${service.otherKey}` })).status).toBe(404)
  })
})

describe('a dataset', () => {
  const job = (value: object): BenchmarkJob =>
    readLeniently(BenchmarkJob, { name: 'job', state: 'completed', ...value })
  const spec = (...scenario_ids: string[]) => ({ job_spec: { scenario_ids, agent_configs: [] } })
  const outcomes = (...names: string[]) => ({
    benchmark_outcomes: [
      {
        benchmark_run_id: 'bmr_1',
        agent_name: 'a',
        scenario_outcomes: names.map((name) => ({
          scenario_definition_id: `${name} ${Math.random()}`,
          scenario_name: name,
          state: 'COMPLETED',
        })),
      },
    ],
  })

  it('is shared by jobs of one benchmark', () => {
    const of = (benchmark_id: string) => ({ job_source: { type: 'benchmark', benchmark_id } })
    const isOn = isOnDataSetOf(job({ id: 'a', ...of('bmd_1'), ...spec('s1') }))
    expect(isOn(job({ id: 'b', ...of('bmd_1'), ...spec('s2') }))).toBe(true)
    expect(isOn(job({ id: 'c', ...of('bmd_2'), ...spec('s2') }))).toBe(false)
  })

  it("is shared from half of the larger job's scenarios on", () => {
    const isOn = isOnDataSetOf(job({ id: 'a', ...spec('s1', 's2', 's3', 's4') }))
    expect(isOn(job({ id: 'b', ...spec('s1', 's2') }))).toBe(true)
    expect(isOn(job({ id: 'c', ...spec('s1') }))).toBe(false)
    expect(isOn(job({ id: 'd', ...spec('s1', 's2', 's5', 's6', 's7') }))).toBe(false)
    expect(isOn(job({ id: 'e', job_spec: null, benchmark_outcomes: null }))).toBe(false)
  })

  it('matches job-file tasks by name', () => {
    const file = { job_source: { type: 'harbor', inline_yaml: '' } }
    const isOn = isOnDataSetOf(job({ id: 'a', ...file, ...outcomes('one', 'two') }))
    expect(isOn(job({ id: 'b', ...file, ...outcomes('one', 'two') }))).toBe(true)
    expect(isOn(job({ id: 'c', ...outcomes('one', 'two') }))).toBe(false)
    expect(isOn(job({ id: 'd', job_source: { type: 'imported' }, ...outcomes('one', 'two') }))).toBe(true)
  })
})
