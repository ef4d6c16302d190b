import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { wrongKeysPerMinute } from '#lib/limits/wrong-key-limit.ts'
import type { CompareReport, Report } from '#lib/protocol/reports.ts'
import { agent, createJob, makeScenarios, untilEnded } from '#lib/service/testing/jobs.ts'
import { runCommand } from '#lib/service/testing/process.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { startConsole, startServer, type TestConsole } from '../testing.ts'

/** An agent that answers scenario i with the i-th score, or times out. */
const scriptedAgent = (name: string, scores: readonly (number | 'late')[]) =>
  agent(
    name,
    `case $(<"$HARBOR_INSTRUCTION_FILE") in
      ${scores.map((score, i) => `${i}) ${score === 'late' ? 'sleep infinity' : `echo ${score} > ~/answer`} ;;`).join('\n')}
    esac`,
    scores.includes('late') ? { timeout_seconds: 10 } : {},
  )

const a = [1, 0.5, 0, 1, 0.75, 0.25, 1, 0, 0.5, 1]
const b = [1, 0, 0, 0.5, 0.75, 0.5, 0.5, 0, 0.25, 1]

let service: TestService
let gateway: TestConsole
let job: BenchmarkJob
/** A again without the last scenario: two better and two worse, one of each changing between pass and fail. */
let later: BenchmarkJob
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
  gateway = await startConsole(service)
  const scenario_ids = await makeScenarios(service.client, 10)
  for (const [i, id] of scenario_ids.entries())
    if (i < 9)
      await service.client.scenarios.update({ params: { id }, body: { metadata: { level: i < 5 ? 'easy' : 'hard' } } })
  const queued = await createJob(service.client, {
    type: 'scenarios',
    scenario_ids,
    agent_configs: [scriptedAgent('A', a), scriptedAgent('B', b), scriptedAgent('C', ['late', ...b.slice(1)])],
    orchestrator_config: { n_concurrent_trials: 8 },
  })
  const changed = scriptedAgent('A', [1, 1, 0, 0.5, 0.25, 0.75, ...a.slice(6)])
  const other = await createJob(service.client, {
    type: 'scenarios',
    scenario_ids: scenario_ids.slice(0, 9),
    agent_configs: [{ ...changed, agent_environment: { environment_variables: { EFFORT: 'high' } } }],
    orchestrator_config: { n_concurrent_trials: 8, timeout_multiplier: 2 },
  })
  job = await untilEnded(service.client, queued.id)
  later = await untilEnded(service.client, other.id)
})
afterAll(async () => {
  await gateway.close()
  await service.close()
})

const request = (search = '', init: RequestInit = {}, id = job.id) =>
  gateway.fetch(`/api/benchmark-jobs/${id}/report${search}`, {
    ...init,
    headers: { authorization: `Bearer ${service.key}`, ...init.headers },
  })
const report = async (search = ''): Promise<Report> => (await request(search)).json()
const six = (value: number | null | undefined) => (value == null ? value : Math.round(value * 1e6) / 1e6)

describe('GET /api/benchmark-jobs/{id}/report', () => {
  it('200 with the figures of a job', async () => {
    const { job: reported, rule, complete, agents, pairs, failure_groups, notes, verdict } = await report()
    expect(reported).toMatchObject({ id: job.id, state: 'completed', planned_scenarios: 10, planned_attempts: 1 })
    expect([rule, complete]).toEqual(['zero', true])
    expect(agents.map(({ agent_name, mean }) => [agent_name, six(mean)])).toEqual([
      ['A', 0.6],
      ['B', 0.45],
      ['C', 0.35],
    ])
    const lost = new Map<string, number>()
    for (const each of failure_groups.flatMap((group) => group.agents))
      lost.set(each.benchmark_run_id, (lost.get(each.benchmark_run_id) ?? 0) + (each.points ?? 0))
    expect(agents.map(({ benchmark_run_id, mean }) => six((lost.get(benchmark_run_id) ?? 0) + (mean ?? 0)))).toEqual([
      1, 1, 1,
    ])
    expect(failure_groups.map(({ kind, n_attempts, points }) => [kind, n_attempts, six(points)])).toEqual([
      ['wrong', 8, 0.8],
      ['wrong', 14, 0.7],
      ['timeout', 1, 0.1],
    ])
    const csv = await (await request('?format=csv&table=failure_groups')).text()
    expect(csv.trim().split('\r\n')).toHaveLength(1 + failure_groups.flatMap((group) => group.agents).length)
    expect(await (await request('?format=md')).text()).toContain(
      '| Wrong answer: scored 0 | 8 | 3 | 0.800 | A 2, B 3, C 3 |',
    )
    const [first] = pairs
    expect([first?.a.agent_name, first?.b.agent_name, six(first?.difference)]).toEqual(['A', 'B', 0.15])
    expect(first).toMatchObject({ p_value: 0.1875, significant: false, scenarios_needed: 42 })
    expect(notes[0]).toBe('Failures, timeouts and completed attempts without a score count as 0.')
    expect(verdict.lead).toEqual(
      expect.stringMatching(
        /^A leads B by 0\.150 \(95% CI -0\.042 to 0\.342, 10 paired scenarios\)\. Not significant, adjusted p = \d\.\d{3}; about 42 scenarios needed\.$/,
      ),
    )
  })

  it('200 with failures excluded', async () => {
    const { agents, pairs, excluded_scenarios } = await report('?failures=leave_out')
    expect(agents.map(({ n_scenarios, n_timeout }) => [n_scenarios, n_timeout])).toEqual([
      [10, 0],
      [10, 0],
      [9, 1],
    ])
    expect(six(agents[2]?.mean)).toBe(six(3.5 / 9))
    expect(pairs.map(({ n }) => n)).toEqual([10, 9, 9])
    expect(excluded_scenarios).toMatchObject([
      { scenario_name: 'scenario 0', missing_from: [{ agent_name: 'C', why: 'failures_left_out' }] },
    ])
  })

  it.each(['zero', 'leave_out'])('200 with the same figures as CSV and Markdown, failures %s', async (failures) => {
    const { agents, pairs, verdict } = await report(`?failures=${failures}`)
    const rowsOf = async (table: string) => {
      const csv = await request(`?format=csv&failures=${failures}&table=${table}`)
      expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
      const lines = (await csv.text()).trim().split('\r\n')
      const [head = [], ...rows] = lines.map((line) => line.slice(1, -1).split('","'))
      return rows.map((row) => Object.fromEntries(head.map((column, i) => [column, row[i]])))
    }
    const textOf = (figures: object) => Object.entries(figures).map(([name, value]) => [name, String(value)])
    const expectedAgents = agents.map(({ agent_name, mean, se, ci_low, n_scenarios, n_timeout, pass_at_k }) =>
      Object.fromEntries(textOf({ agent_name, mean, se, ci_low, n_scenarios, n_timeout, pass_at_1: pass_at_k?.[1] })),
    )
    expect(await rowsOf('agents')).toMatchObject(expectedAgents)
    const expectedPairs = pairs.map(({ a: one, b: other, n, difference, p_value, p_adjusted, significant }) =>
      Object.fromEntries(
        textOf({
          a_agent_name: one.agent_name,
          b_agent_name: other.agent_name,
          n,
          difference,
          p_value,
          p_adjusted,
          significant,
        }),
      ),
    )
    expect(await rowsOf('pairs')).toMatchObject(expectedPairs)
    expect(await rowsOf('excluded_scenarios')).toMatchObject(
      failures === 'zero' ? [] : [{ scenario_name: 'scenario 0', missing_from: 'C: failures_left_out' }],
    )
    const markdown = await (await request(`?format=md&failures=${failures}`)).text()
    expect(markdown.split('\n\n').slice(1, 3)).toEqual([verdict.lead, verdict.more.join(' ')])
    for (const { agent_name, mean } of agents) expect(markdown).toContain(`| ${agent_name} | ${mean?.toFixed(3)} |`)
    for (const { a: one, b: other, difference } of pairs)
      expect(markdown).toContain(`| ${one.agent_name} vs ${other.agent_name} | ${difference?.toFixed(3)} |`)
  })

  it('200 as one HTML file with the same figures', async () => {
    const { agents, pairs, verdict } = await report()
    const answer = await request('?format=html')
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-.*sandbox$/)
    const text = (await answer.text())
      .replace(/<style>[\s\S]*<\/style>/, '')
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ')
    expect(text).toContain(verdict.lead)
    for (const { agent_name, mean, ci_low, ci_high } of agents)
      expect(text).toMatch(
        new RegExp(` ${agent_name} .*${mean?.toFixed(3)} n = 10 ${ci_low?.toFixed(3)} to ${ci_high?.toFixed(3)} `),
      )
    for (const { a: one, b: other, difference } of pairs)
      expect(text).toContain(` ${one.agent_name} vs ${other.agent_name} +${difference?.toFixed(3)} n = 10 `)
    expect(text).toContain(' scenario 0 1.000 1.000 0.000 timed out scenario 1 0.500 0.000 0.000 ')
    expect(text).toContain(` Current figures: ${gateway.origin}/benchmark-jobs/${job.id}`)
  })

  it('200 for a page session', async () => {
    const cookie = await gateway.signIn(service.key)
    const answer = await gateway.fetch(`/api/benchmark-jobs/${job.id}/report`, { cookie })
    expect(await answer.json()).toEqual(await report())
  })

  it.each([
    ['?format=xml', 'format'],
    ['?failures=maybe', 'failures'],
    ['?format=csv&format=md', 'format'],
    ['?failure=zero', 'failure'],
    ['?format=csv&table=all', 'table'],
    ['?format=csv&table=groups', 'group'],
    ['?threshold=half', 'threshold'],
    ['?direction=up', 'direction'],
    ['?metric=@cost_usd', 'metric'],
    ['?threshold=1e999', 'threshold'],
    ['?metric=__proto__', 'metric'],
  ])('400 for %s', async (search, field) => {
    const answer = await request(search)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ code: 'invalid_argument', field, message: expect.any(String) })
  })

  // Computed by hand from Student's quantiles 2.776445 (4 degrees of freedom) and 3.182446 (3).
  it('200 with groups of scenarios, the same in JSON, CSV and Markdown', async () => {
    const { group, groups, group_notes, agents, pairs } = await report('?group=level')
    expect([group, groups?.map(({ value }) => value)]).toEqual(['level', ['easy', 'hard', null]])
    const figures = groups?.map((each) => {
      const [one] = each.agents
      const [pair] = each.pairs
      return [one?.n_scenarios, six(one?.mean), pair?.n, six(pair?.difference), six(pair?.ci_low), six(pair?.ci_high)]
    })
    expect(figures).toEqual([
      [5, 0.65, 5, 0.2, -0.140044, 0.540044],
      [4, 0.4375, 4, 0.125, -0.388565, 0.638565],
      [1, 1, 1, 0, null, null],
    ])
    for (const [at, whole] of agents.entries())
      expect(groups?.reduce((n, each) => n + (each.agents[at]?.n_scenarios ?? 0), 0)).toBe(whole.n_scenarios)
    for (const [at, whole] of pairs.entries())
      expect(groups?.reduce((n, each) => n + (each.pairs[at]?.n ?? 0), 0)).toBe(whole.n)
    expect(group_notes).toEqual(['p is Holm-adjusted over 9 pairs of all groups.'])

    const csv = await (await request('?group=level&format=csv&table=groups')).text()
    const easy = groups?.[0]?.agents[0]
    expect(csv.split('\r\n')[1]).toContain(
      ['level', 'easy', 'A', '', easy?.benchmark_run_id, easy?.job_id, 5, 5, 0.65, easy?.se, easy?.ci_low, 1, 't']
        .map((cell) => `"${cell ?? ''}"`)
        .join(','),
    )
    expect(csv.trim().split('\r\n')).toHaveLength(10)
    const pairRows = (await (await request('?group=level&format=csv&table=group_pairs')).text()).trim().split('\r\n')
    expect(pairRows).toHaveLength(10)
    expect(pairRows[4]).toMatch(/^"level","hard","A",.*"0\.4375","0\.3125","0\.125"/)
    const markdown = await (await request('?group=level&format=md')).text()
    expect(markdown).toContain('## Groups by `level`')
    expect(markdown).toContain('| easy | A | 5 | 5 | 0.650 | 0.131 to 1.000 |')
    expect(markdown).toContain('| hard | A vs B | 0.125 | -0.389 to 0.639 | 4 | 0.750 | 1.000 |')
    expect(markdown).toContain('| not set | A | 1 | 1 | 1.000 | n/a |')
  })

  it('200 with the known keys for a key that no scenario has', async () => {
    const { groups, group_notes } = await report('?group=constructor')
    expect(groups?.map(({ value, agents }) => [value, agents[0]?.n_scenarios])).toEqual([[null, 10]])
    expect(group_notes[0]).toBe('No scenario has the metadata key constructor. Keys: level.')
  })

  it('200 with passes at the threshold', async () => {
    const { threshold, agents, notes } = await report('?threshold=0.5')
    expect([threshold, agents[0]?.n_passed]).toEqual([0.5, 7])
    expect(notes.join(' ')).toContain('A scenario passes if the mean of its attempts is at least 0.5')
    expect(await (await request('?threshold=0.5&format=md')).text()).toContain('Pass threshold: 0.5.')
  })

  it('200 with lower scores as better ones', async () => {
    const { rule, threshold, lower_is_better, agents, notes } = await report('?direction=lower&threshold=0.5')
    expect([rule, threshold, lower_is_better]).toEqual(['leave_out', 0.5, true])
    expect(agents.map(({ agent_name, n_scenarios, n_passed }) => [agent_name, n_scenarios, n_passed])).toEqual([
      ['A', 10, 5],
      ['B', 10, 7],
      ['C', 9, 7],
    ])
    expect(notes.join(' ')).toContain('Lower is better. Failures and timeouts, including scored ones, are excluded')
    expect(await (await request('?direction=lower&format=md')).text()).toContain('Lower is better.')
  })

  it('200 with durations as a metric', async () => {
    const { metric, metrics, lower_is_better, agents } = await report('?metric=@duration_ms')
    expect([metric, metrics, lower_is_better]).toEqual(['@duration_ms', ['@duration_ms'], true])
    const [first] = agents
    expect(first?.metrics['@duration_ms']).toMatchObject({ mean: first?.mean, ci_low: first?.ci_low, n_attempts: 10 })
    // C's timeout took its time, so it counts.
    expect(agents[2]?.metrics['@duration_ms']?.n_attempts).toBe(10)
    const [head = ''] = (await (await request('?format=csv')).text()).split('\r\n')
    for (const figure of ['mean', 'ci_low', 'ci_high', 'n']) expect(head).toContain(`"metric_@duration_ms_${figure}"`)
    expect(await (await request('?format=md')).text()).toMatch(
      /## Other metrics\n\n.*\n.*\n\| A \| duration in ms \| [\d.]+ s \|/,
    )
  })

  it('404 for an unknown job and for one of another account', async () => {
    const missing = await request('', {}, 'bmj_none')
    expect(missing.status).toBe(404)
    expect(await missing.json()).toMatchObject({ code: 'not_found' })
    expect((await request('', { headers: { authorization: `Bearer ${service.otherKey}` } })).status).toBe(404)
  })
})

describe('GET /api/benchmark-jobs/compare', () => {
  const compared = (search: string) =>
    gateway.fetch(`/api/benchmark-jobs/compare${search}`, { headers: { authorization: `Bearer ${service.key}` } })

  it('200 with the changes per scenario', async () => {
    const report: CompareReport = await (await compared(`?jobs=${job.id},${later.id}`)).json()
    expect([report.baseline, report.agents.length, report.pairs.length]).toEqual([job.id, 4, 1])
    const [pair] = report.pairs
    expect([pair?.a.job_id, pair?.b.job_id, pair?.b.agent_name, pair?.n]).toEqual([later.id, job.id, 'A', 9])
    expect(six(pair?.difference)).toBe(0)
    const names = (changes: readonly { scenario_name: string }[] | null = []) =>
      changes?.map((each) => each.scenario_name)
    expect([names(pair?.new_passes), names(pair?.new_failures)]).toEqual([['scenario 1'], ['scenario 3']])
    expect([names(pair?.better), names(pair?.worse)]).toEqual([
      ['scenario 1', 'scenario 5'],
      ['scenario 3', 'scenario 4'],
    ])
    expect(names(pair?.still_failing)).toEqual(['scenario 2', 'scenario 4', 'scenario 5', 'scenario 7', 'scenario 8'])
    expect(pair?.new_passes?.[0]).toMatchObject({ before: 0.5, after: 1 })
    expect(report.excluded_scenarios.map(({ scenario_name }) => scenario_name)).toEqual(['scenario 9'])
  })

  it('200 with groups of the pairs', async () => {
    const { groups }: CompareReport = await (await compared(`?jobs=${job.id},${later.id}&group=level`)).json()
    expect(groups?.map(({ value, pairs }) => [value, pairs.map(({ n, difference }) => [n, six(difference)])])).toEqual([
      ['easy', [[5, -0.1]]],
      ['hard', [[4, 0.125]]],
      [null, [[0, null]]],
    ])
  })

  it('200 with the differences between the jobs', async () => {
    const { incomparable }: CompareReport = await (await compared(`?jobs=${job.id},${later.id}`)).json()
    expect(incomparable.map(({ kind }) => kind)).toEqual(['scenarios', 'timeouts', 'environment', 'agents'])
    const texts = incomparable.map(({ text }) => text).join('\n')
    expect(texts).toContain(`1 missing in ${later.name}`)
    expect(texts).toContain(`Timeout multiplier: 1 in ${job.name}, 2 in ${later.name}`)
    // Values of variables may be secret.
    expect(texts).toContain('Environment variables of A differ: EFFORT')
    expect(texts).not.toContain('high')
  })

  it('200 as CSV and Markdown', async () => {
    const search = `?jobs=${job.id},${later.id}&format=`
    const [head = '', ...rows] = (await (await compared(`${search}csv&table=pairs`)).text()).split('\r\n')
    const cells = rows[0]?.split(',') ?? []
    const counts = ['new_failures', 'worse', 'new_passes', 'better', 'still_failing']
    expect(counts.map((name) => cells[head.split(',').indexOf(`"${name}"`)])).toEqual(
      ['1', '2', '1', '2', '5'].map((count) => `"${count}"`),
    )
    const { verdict }: CompareReport = await (await compared(`${search}json`)).json()
    const markdown = await (await compared(`${search}md`)).text()
    expect(markdown.split('\n\n').slice(1, 3)).toEqual([verdict?.lead, verdict?.more.join(' ')])
    expect(verdict?.more).toEqual([
      'Of 9 scenarios, 2 scored worse (1 newly failing), 2 better (1 newly passing) and 5 the same.',
    ])
    expect(markdown).toMatch(/### New passes: 1 of 9\n\n.*\n\n- scenario 1: 0.500 to 1.000/)
    expect(markdown).toContain(
      '### Worse: 2 of 9\n\nRule: scores worse than the baseline, including new failures.\n\n- scenario 3: 1.000 to 0.500\n- scenario 4: 0.750 to 0.250\n',
    )
    expect(markdown.indexOf('## Differences between the jobs')).toBeLessThan(markdown.indexOf('| Agent |'))
  })

  it.each(['', '?jobs=..', '?jobs=,', '?jobs=a,b,c,d,e,f,g,h,i,j,k', '?job=bmj_1'])('400 for "%s"', async (search) => {
    const answer = await compared(search)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ code: 'invalid_argument', message: expect.any(String) })
  })

  it('200 with a gate as JSON, CSV, Markdown and JUnit', async () => {
    const gated = (format: string, rule = 'gate=non_inferior&margin=0.5') =>
      compared(`/report?jobs=${job.id},${later.id}&${rule}&format=${format}`)
    const { gate, pairs }: CompareReport = await (await gated('json')).json()
    expect(gate).toMatchObject({ kind: 'non_inferior', margin: 0.5, passed: true, decided: true })
    expect(gate?.runs).toMatchObject([{ a: { job_id: later.id }, b: { job_id: job.id }, bound: pairs[0]?.ci_low }])
    expect((await (await gated('md')).text()).split('\n')[2]).toMatch(/^\*\*Gate passed \(not worse .*\*\*$/)
    const [head = '', row = ''] = (await (await gated('csv&table=pairs')).text()).split('\r\n')
    expect(row.split(',')[head.split(',').indexOf('"gate_passed"')]).toBe('"true"')
    const junit = await gated('junit', 'gate=superior')
    expect(junit.headers.get('content-type')).toBe('application/xml; charset=utf-8')
    const text = await junit.text()
    expect(text).toContain('<failure message="not significantly better; difference 0.000')
    expect(text).toContain('Newly failing scenarios:\nscenario 3: 1 to 0.5')
    const timed = await gated('md', 'gate=non_inferior&margin=3600000&metric=@duration_ms&group=level')
    const markdown = await timed.text()
    expect(markdown).toMatch(
      /Gate passed \(.* by 3600000 ms or more\).*difference -?[\d.]+ s .*upper bound -?[\d.]+ ms is below 3600000 ms/,
    )
    expect(markdown).toMatch(/\| easy \| A .* \| 5 \| 5 \| [\d.]+ s \| -?[\d.]+ s to [\d.]+ s \|/)
    expect(markdown).toMatch(/### (Worse|Better): .*\n\n.*\n\n- scenario \d: [\d.]+ s to [\d.]+ s\n/)
  })

  it.each([
    ['gate=best', 'gate'],
    ['gate=non_inferior', 'margin'],
    ['gate=non_inferior&margin=0', 'margin'],
    ['gate=superior&margin=0.1', 'margin'],
    ['margin=0.1', 'margin'],
    ['format=junit', 'gate'],
  ])('400 for %s', async (search, field) => {
    const refused = await compared(`?jobs=${job.id}&${search}`)
    expect([refused.status, (await refused.json()).field]).toEqual([400, field])
  })

  it('400 for a foreign baseline, 404 for an unknown job', async () => {
    expect((await compared(`?jobs=${job.id}&baseline=${later.id}`)).status).toBe(400)
    const missing = await compared(`?jobs=${job.id},bmj_none`)
    expect(missing.status).toBe(404)
    expect(await missing.json()).toMatchObject({
      code: 'not_found',
      field: 'jobs.bmj_none',
      message: expect.stringContaining('No benchmark job with ID bmj_none'),
    })
  })
})

describe('npm run service -- gate', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'devdeck-gate-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))
  const gate = (flags: readonly string[], environment: Record<string, string> = {}) =>
    runCommand(['gate', '--data-dir', folder, '--console', gateway.url, ...flags], {
      DEVDECK_API_KEY: service.key,
      ...environment,
    }).ended
  const compared = () => ['--baseline', job.id, '--jobs', later.id]

  it('exits with 0 or 1 and writes JUnit, Markdown and the summary', async () => {
    const [junit, markdown, summary] = ['junit.xml', 'gate.md', 'summary.md'].map((name) => join(folder, name))
    const files = ['--junit', junit ?? '', '--markdown', markdown ?? '']
    const inferior = ['--rule', 'non_inferior', '--margin', '0.5']
    const passed = await gate([...compared(), ...inferior, ...files], { GITHUB_STEP_SUMMARY: summary ?? '' })
    expect(passed, passed.stderr).toMatchObject({ code: 0, stderr: '' })
    expect(passed.stdout).toMatch(/^Gate passed \(not worse .*\npassed {7}A in .*: difference 0\.000 .*\n$/)
    const [first = '', second = '', third = ''] = [junit, markdown, summary].map((path) =>
      readFileSync(path ?? '', 'utf8'),
    )
    expect(first).toContain('<testsuites tests="1" failures="0" errors="0">')
    expect(second).toContain('**Gate passed')
    expect(third).toBe(second)
    const failed = await gate([...compared(), '--rule', 'superior'])
    expect(failed).toMatchObject({ code: 1, stdout: expect.stringMatching(/^Gate failed .*\nfailed {7}A in /) })
  })

  it.each([
    [['--rule', 'best'], '--rule must be one of'],
    [['--rule', 'superior'], 'gate requires --jobs'],
    [['--rule', 'non_inferior', '--jobs', 'bmj_none'], 'margin must be above 0'],
    [['--rule', 'superior', '--jobs', 'bmj_1', '--exclusions', 'none'], 'exclusions must be one of apply, ignore'],
    [['--rule', 'superior', '--jobs', 'bmj_none'], 'No benchmark job with ID bmj_none'],
    [['--rule', 'superior', '--jobs', 'bmj_none', '--console', 'http://127.0.0.1:9'], 'Cannot reach the console'],
  ])('exits with 2 for %j', async (flags, message) => {
    const { code, stdout, stderr } = await gate(flags)
    expect({ code, stdout, lines: stderr.trimEnd().split('\n').length }).toEqual({ code: 2, stdout: '', lines: 1 })
    expect(stderr).toContain(message)
  })

  it('exits with 2 for a wrong key, and does not follow a redirect', async () => {
    const wrong = await gate([...compared(), '--rule', 'superior'], { DEVDECK_API_KEY: 'ak_wrong' })
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('rejected the API key') })
    const seen: unknown[] = []
    const target = await startServer((request, response) => {
      seen.push(request.headers)
      response.end()
    })
    const redirect = await startServer((_, response) => response.writeHead(302, { location: target.url }).end())
    const { code, stderr } = await gate([...compared(), '--rule', 'superior', '--console', redirect.url])
    expect({ code, stderr, seen }).toEqual({ code: 2, stderr: expect.stringContaining('redirects to'), seen: [] })
    redirect.close()
    target.close()
  })
})

// Last: afterwards this console refuses wrong keys for a minute.
describe('access', () => {
  it('401 without a key or with a wrong one, 429 after too many wrong keys', async () => {
    expect((await gateway.fetch(`/api/benchmark-jobs/${job.id}/report`)).status).toBe(401)
    const guess = () => request('', { headers: { authorization: 'Bearer ak_wrong' } })
    expect((await guess()).status).toBe(401)
    for (let i = 0; i < wrongKeysPerMinute - 1; i++) await guess()
    expect((await guess()).status).toBe(429)
  })
})
