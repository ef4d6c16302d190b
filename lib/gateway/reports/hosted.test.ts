import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import { failureGroupsOf } from '#lib/protocol/failure-groups.ts'
import type { CompareReport, Report } from '#lib/protocol/reports.ts'
import { judge } from '#lib/statistics/testing.ts'
import { reportCsv } from './csv.ts'
import { harborMean } from './harbor-mean.ts'
import { jobHtml } from './html/job-html.ts'
import { comparability, incomparabilities } from './incomparable.ts'
import { notesOf, verdictOf } from './job-verdict.ts'
import { agentsOf, agentsOfAll, isComplete, judgedTogether, reportedJob, requireMetric } from './judged-job.ts'
import { reportMarkdown } from './markdown.ts'

/** A job as a service may return it, with missing or unknown fields. */
const jobOf = (value: object): BenchmarkJob => readLeniently(BenchmarkJob, { id: 'bmj_1', name: 'job', ...value })

const reportOf = (job: BenchmarkJob): Report => {
  const judgment = judge({ agents: agentsOf(job), complete: isComplete(job) }, 'zero')
  const judged = judgedTogether([job])
  return {
    job: reportedJob(job),
    verdict: verdictOf({ ...judgment, ...judged }),
    ...judgment,
    ...judged,
    exclusions: null,
    labels: [],
    group: null,
    groups: null,
    group_notes: [],
    harbor_mean: null,
    failure_groups: failureGroupsOf(agentsOf(job), judgment),
    notes: notesOf({ ...judgment, ...judged }),
  }
}

const noAgents: Pick<CompareReport, 'agents' | 'excluded_scenarios'> = { agents: [], excluded_scenarios: [] }

const outcome = (agent_name: string, scenario_outcomes: object[]) => ({
  benchmark_run_id: `bmr_${agent_name}`,
  agent_name,
  scenario_outcomes,
})

it('reports a job without outcomes as incomplete and empty', () => {
  for (const job of [jobOf({ state: 'queued' }), jobOf({ state: 'paused', benchmark_outcomes: null })]) {
    const report = reportOf(job)
    expect([report.complete, report.agents, report.pairs]).toEqual([false, [], []])
    expect(report.job).toMatchObject({ planned_scenarios: null, planned_attempts: null })
    expect(reportMarkdown(report)).toContain('No agent has an outcome yet.')
    expect(reportCsv(report, 'agents')).toBe('"agent_name","model_name"\r\n')
    expect(reportCsv(report, 'pairs')).toBe('"a_agent_name","b_agent_name"\r\n')
  }
})

it('reports tokens and cost with the number of attempts that report them', () => {
  const attempt = (usage: object | null) => ({ scenario_definition_id: 's1', state: 'COMPLETED', score: 1, usage })
  const report = reportOf(
    jobOf({
      state: 'completed',
      benchmark_outcomes: [
        outcome('a', [attempt({ n_input_tokens: 1200, n_output_tokens: 30, cost_usd: 0.25 }), attempt(null)]),
        outcome('b', [attempt({ unknown_because: 'nothing was left' })]),
      ],
    }),
  )
  expect(reportMarkdown(report)).toContain(
    '| 1200 (1 of 2 attempts) | 30 (1 of 2 attempts) | $0.2500 (1 of 2 attempts) |',
  )
  expect(reportMarkdown(report)).toContain('| n/a | n/a | n/a |')
})

it('reports the cost per solved scenario in JSON, CSV and Markdown', () => {
  const attempt = (scenario_definition_id: string, score: number, cost_usd: number) => ({
    scenario_definition_id,
    state: 'COMPLETED',
    score,
    usage: { cost_usd },
  })
  const attempts = [attempt('s1', 1, 0.5), attempt('s2', 1, 0.75), attempt('s3', 0.5, 0.25)]
  const report = reportOf(jobOf({ state: 'completed', benchmark_outcomes: [outcome('a', attempts)] }))
  expect(report.agents[0]?.cost_per_solved).toBe(0.75)
  const [head, row] = reportCsv(report, 'agents')
    .split('\r\n')
    .map((line) => line.split(','))
  expect(row?.[head?.indexOf('"cost_per_solved"') ?? -1]).toBe('"0.75"')
  expect(reportMarkdown(report)).toMatch(/\| Cost \| Cost per solved \|.*\| \$1\.5000 \| \$0\.7500 \|/s)
})

it('escapes names in tables and CSV', () => {
  const report = reportOf(
    jobOf({
      name: 'x\n# not a heading | <img src=x onerror=1>',
      state: 'completed',
      benchmark_outcomes: [
        outcome('=HYPERLINK("http://x")|`b`', [
          { scenario_definition_id: 's1', scenario_name: 'one', state: 'COMPLETED', score: 1 },
        ]),
      ],
    }),
  )
  const markdown = reportMarkdown(report)
  expect(markdown.split('\n')[0]).toBe('# Benchmark job x \\# not a heading \\| \\<img src=x onerror=1\\>')
  expect(markdown).toContain('| =HYPERLINK("http://x")\\|\\`b\\` | 1.000 |')
  expect(reportCsv(report, 'agents')).toContain(`"'=HYPERLINK(""http://x"")|\`b\`"`)
})

it('keeps names inert and complete in HTML, without anything to load', () => {
  const name = '"><script>alert(1)</script><img src=x onerror=alert(1)>\u202e'
  const job = jobOf({
    name,
    state: 'completed',
    benchmark_outcomes: [1, 2].map((run) => ({
      ...outcome(name, [{ scenario_definition_id: 's1', scenario_name: name, state: 'FAILED', score: null }]),
      benchmark_run_id: `bmr_${run}`,
    })),
  })
  const page = jobHtml(reportOf(job), agentsOf(job), { now_ms: 0, url: 'javascript:alert(1)"onclick="alert(1)' })
  const tags = [...page.matchAll(/<[a-z][^>]*>/gi)].map(([tag]) => tag)
  expect(tags.filter((tag) => /^<(script|img|iframe|link|object|base)|\s(on\w+|src|style)=/i.test(tag))).toEqual([])
  expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  expect(page).not.toContain('\u202e')
  const [, policy = ''] = /Content-Security-Policy" content="([^"]+)"/.exec(page) ?? []
  const [, style = ''] = /<style>([\s\S]*)<\/style>/.exec(page) ?? []
  const hash = createHash('sha256').update(style).digest('base64')
  expect(policy.replaceAll('&#39;', "'")).toContain(`default-src 'none'; style-src 'sha256-${hash}'`)
})

it('bounds the HTML of 10,000 trials to 5 MB, with names of any length', () => {
  const outcomes = Array.from({ length: 1250 }, (_, i) => ({
    scenario_definition_id: `s${i}`,
    scenario_name: `${i} ${'"'.repeat(300)}`,
    state: 'COMPLETED',
    score: (i % 11) / 10,
  }))
  const names = Array.from({ length: 8 }, (_, i) => `agent-${i}`)
  const job = jobOf({ state: 'completed', benchmark_outcomes: names.map((each) => outcome(each, outcomes)) })
  const page = jobHtml(reportOf(job), agentsOf(job), { now_ms: 0 })
  expect(page.length).toBeLessThan(5_000_000)
  expect(page).toContain('<summary>1,050 more scenarios</summary>')
  expect(page.match(/<tr><th scope="row">/g)).toHaveLength(1250)
})

it('accepts missing and repeated ids', () => {
  const scored = (score: number) =>
    ['one', 'two'].map((scenario_name) => ({ scenario_name, state: 'COMPLETED', score }))
  const run = (agent_name: string, score: number, benchmark_run_id: string | null) => ({
    ...outcome(agent_name, scored(score)),
    benchmark_run_id,
  })
  const outcomes = [run('a', 0, null), run('b', 0.5, null), run('c', 1, 'bmr_1'), run('d', 0.25, 'bmr_1')]
  const { agents, verdict } = reportOf(jobOf({ state: 'completed', benchmark_outcomes: outcomes }))
  expect(agents.map(({ benchmark_run_id, mean, n_scenarios }) => [benchmark_run_id, mean, n_scenarios])).toEqual([
    ['bmj_1 run 1', 0, 2],
    ['bmj_1 run 2', 0.5, 2],
    ['bmr_1', 1, 2],
    ['bmj_1 run 4', 0.25, 2],
  ])
  expect(verdict.lead).toMatch(/^c leads b by 0\.500 /)
})

it('lists differences between jobs', () => {
  const specified = (name: string, more: object, agent: object) =>
    jobOf({
      name,
      state: 'completed',
      job_source: { type: 'harbor', inline_yaml: '' },
      job_spec: {
        scenario_ids: ['s1'],
        agent_configs: [{ name: 'a', type: 'job_agent', ...agent }],
        orchestrator_config: more,
      },
    })
  const one = specified('one', { n_attempts: 1 }, { kwargs: { x: 1, y: 2 } })
  const secrets = { agent_environment: { secrets: { KEY: 'vault' } } }
  const two = specified('two', { n_attempts: 3 }, { kwargs: { y: 2, x: 1 }, ...secrets })
  expect(incomparabilities([one, two], noAgents)).toEqual([
    { kind: 'attempts', text: 'Attempts per scenario: 1 in one, 3 in two' },
    { kind: 'environment', text: 'Secrets of a differ' },
  ])
  expect(incomparabilities([one, one], noAgents)).toEqual([])
})

describe("Harbor's mean", () => {
  const trial = (scenario: string, state: string, score: number | null) => ({
    scenario_definition_id: scenario,
    scenario_name: scenario,
    state,
    score,
  })
  const imported = (...agents: object[][]) =>
    jobOf({
      state: 'completed',
      job_source: { type: 'imported' },
      judged_metric: 'reward',
      benchmark_outcomes: agents.map((outcomes, at) => outcome(`agent ${at}`, outcomes)),
    })
  const noteOf = (whole: BenchmarkJob, rule: 'zero' | 'leave_out' = 'zero', counted = whole) => {
    const judgment = judge({ agents: agentsOf(counted), complete: true }, rule)
    return harborMean(whole, counted, { ...judgment, metric: 'reward' }, rule)
  }
  const done = trial('s1', 'COMPLETED', 1)

  it('is explained only where it differs', () => {
    expect(noteOf(imported([done, trial('s2', 'COMPLETED', 0.5), trial('s3', 'FAILED', null)]))).toBe(null)
    expect(noteOf({ ...imported([done, trial('s2', 'CANCELED', null)]), judged_metric: null })).toBe(null)
    // 1 of 3 against 1 of 1.
    expect(noteOf(imported([done, trial('s2', 'CANCELED', null), trial('s3', 'CANCELED', null)], [done]))).toBe(
      'Harbor prints 0.333 for agent 0: it counts 2 canceled trials as 0.',
    )
    expect(noteOf(imported([done, trial('s2', 'FAILED', null)]), 'leave_out')).toBe(
      'Harbor prints 0.500 for agent 0: it counts 1 failed trial as 0.',
    )
    expect(noteOf(imported([done, trial('s2', 'FAILED', 0.5)]))).toBe(
      'Harbor prints 0.750 for agent 0: it counts the rewards of 1 failed trial.',
    )
  })

  it('is explained by all reasons that apply', () => {
    const uneven = [done, done, trial('s2', 'COMPLETED', 0)]
    // (1 + 1 + 0) / 3 against (1 + 0) / 2
    expect(noteOf(imported(uneven))).toBe('Harbor prints 0.667 for agent 0: it averages trials instead of scenarios.')
    const whole = imported([...uneven, trial('s3', 'CANCELED', null), trial('s4', 'COMPLETED', 0)])
    expect(noteOf(whole, 'zero', imported([...uneven, trial('s3', 'CANCELED', null)]))).toBe(
      'Harbor prints 0.400 for agent 0: it counts 1 excluded trial, counts 1 canceled trial as 0 and averages trials instead of scenarios.',
    )
  })
})

describe('an agent run twice', () => {
  const twice = (id: string, temperatures: readonly number[], more: object = {}) =>
    jobOf({
      id,
      state: 'completed',
      job_spec: {
        scenario_ids: ['s1'],
        agent_configs: temperatures.map((temperature) => ({
          name: 'a',
          type: 'job_agent',
          model_name: 'm',
          kwargs: { temperature, api_key: `sk-live-${temperature}00000000` },
          agent_environment: { environment_variables: { OPENAI_API_KEY: `key-${temperature}` } },
        })),
      },
      benchmark_outcomes: temperatures.map((temperature, at) => ({
        benchmark_run_id: `${id} ${at}`,
        agent_name: 'a',
        model_name: 'm',
        scenario_outcomes: [{ scenario_definition_id: 's1', state: 'COMPLETED', score: temperature }],
      })),
      ...more,
    })

  it('is named by what differs in every format, without secrets', () => {
    const report = reportOf(twice('bmj_1', [0.2, 0.7]))
    expect(report.agents.map(({ differs }) => differs)).toEqual(['temperature=0.2', 'temperature=0.7'])
    expect(report.pairs[0]?.a.differs).toBe('temperature=0.2')
    expect(report.verdict.lead).toMatch(/^a · m \(temperature=0\.7\) leads a · m \(temperature=0\.2\) by 0\.500 /)
    const markdown = reportMarkdown(report)
    expect(markdown).toContain('| a · m (temperature=0.7) vs a · m (temperature=0.2) | 0.500 |')
    const html = jobHtml(report, agentsOf(twice('bmj_1', [0.2, 0.7])), { now_ms: 0 })
    expect(html).toContain('m (temperature=0.7)')
    const [agents, pairs] = [reportCsv(report, 'agents'), reportCsv(report, 'pairs')]
    expect(agents).toMatch(/"differs".*"temperature=0\.2".*"temperature=0\.7"/s)
    expect(pairs).toMatch(/"a_differs".*"temperature=0\.2"/s)
    expect([JSON.stringify(report), markdown, html, agents, pairs].join()).not.toMatch(/sk-live|key-0/)
  })

  it('is numbered if only a secret differs', () => {
    const { verdict, agents } = reportOf(
      jobOf({
        ...twice('bmj_1', [0.2, 0.7]),
        job_spec: {
          scenario_ids: ['s1'],
          agent_configs: ['sk-live-100000000', 'sk-live-200000000'].map((api_key) => ({
            name: 'a',
            type: 'job_agent',
            model_name: 'm',
            kwargs: { api_key },
          })),
        },
      }),
    )
    expect(agents.map(({ differs }) => differs)).toEqual([undefined, undefined])
    expect(verdict.lead).toMatch(/^a · m \(2 of 2\) leads a · m \(1 of 2\)/)
  })

  it('in two jobs is also named by job settings', () => {
    const jobs = [
      twice('bmj_1', [0.2], { settings: { timeout_multiplier: 1, n: 5, db_password: 'secret-one' } }),
      twice('bmj_2', [0.2], { settings: { timeout_multiplier: 2, n: 5, db_password: 'secret-two' } }),
    ]
    expect(agentsOfAll(jobs).map(({ differs }) => differs)).toEqual(['timeout_multiplier=1', 'timeout_multiplier=2'])
    expect(agentsOfAll([jobs[0] as BenchmarkJob]).map(({ differs }) => differs)).toEqual([undefined])
  })
})

it('counts the outcomes of incomplete jobs and truncates long names', () => {
  const cut = (name: string, state: string) =>
    jobOf({
      name,
      state,
      job_source: { type: 'harbor' },
      job_spec: { scenario_ids: ['s1', 's2'], agent_configs: [{ name: 'a' }], orchestrator_config: { n_attempts: 3 } },
      benchmark_outcomes: [outcome('a', [{ scenario_definition_id: 's1', state: 'COMPLETED', score: 1 }])],
    })
  expect(incomparabilities([cut('x'.repeat(9000), 'cancelled'), cut('part', 'completed')], noAgents)).toEqual([
    { kind: 'incomplete', text: `${'x'.repeat(120)}… was canceled: 1 of 6 attempts have an outcome` },
    { kind: 'incomplete', text: 'part is incomplete: 1 of 6 attempts have an outcome' },
  ])
})

describe('job settings', () => {
  const ran = (name: string, part: object = {}) =>
    jobOf({
      name,
      state: 'completed',
      job_source: { type: 'imported' },
      job_spec: { scenario_ids: [], agent_configs: [] },
      ...part,
    })
  const settings = {
    timeout_multiplier: 1,
    'environment.type': 'docker',
    'environment.override_cpus': 2,
    'verifier.override_timeout_sec': null,
  }

  it('are shared only if all jobs report them', () => {
    const jobs = [ran('one', { settings }), ran('two', { settings })]
    expect(incomparabilities(jobs, noAgents)).toEqual([])
    const same = ['Attempts per scenario', 'Timeout multiplier', 'Environment type', 'Source']
    expect(comparability(jobs)).toEqual({ same, not_reported: [] })
  })

  // An unreported multiplier was once assumed to be 1.
  it('are listed as not reported if a job omits them', () => {
    const [one, silent, mute] = [ran('one', { settings }), ran('silent'), jobOf({ name: 'mute' })]
    expect(comparability([one, silent])).toEqual({
      same: ['Attempts per scenario', 'Source'],
      not_reported: [
        'Timeout multiplier: 1 in one, not reported in silent',
        'Environment type: docker in one, not reported in silent',
        'environment.override_cpus: 2 in one, not reported in silent',
      ],
    })
    expect(comparability([silent, silent]).not_reported).toEqual([
      'Timeout multiplier: not reported',
      'Environment type: not reported',
    ])
    expect(comparability([silent, mute]).not_reported).toContain('Source: imported in silent, not reported in mute')
    expect(incomparabilities([one, silent], noAgents)).toEqual([])
    expect(comparability([silent])).toEqual({ same: [], not_reported: [] })
  })

  it('are listed as differences if the reported values differ', () => {
    const other = { ...settings, timeout_multiplier: 2, 'environment.override_cpus': null }
    expect(incomparabilities([ran('one', { settings }), ran('two', { settings: other })], noAgents)).toEqual([
      { kind: 'timeouts', text: 'Timeout multiplier: 1 in one, 2 in two' },
      { kind: 'environment', text: 'environment.override_cpus: 2 in one, unset in two' },
    ])
    const rewarded = [ran('one', { judged_metric: 'reward' }), ran('two', { judged_metric: 'accuracy' })]
    expect(incomparabilities(rewarded, noAgents)).toEqual([
      { kind: 'metric', text: 'Metric: reward in one, accuracy in two' },
    ])
  })

  it('count the outcomes of a job imported while running', () => {
    const copied = ran('copied', {
      state: 'incomplete',
      benchmark_outcomes: [
        { ...outcome('a', [{ scenario_definition_id: 's1', state: 'COMPLETED', score: 1 }]), n_total_trials: 64 },
      ],
    })
    expect(incomparabilities([copied, ran('whole')], noAgents)).toEqual([
      { kind: 'incomplete', text: 'copied was imported while still running: 1 of 64 attempts have an outcome' },
    ])
    expect(reportOf(copied).agents[0]?.n_planned).toBe(64)
  })
})

it('names scenarios that got their environment in only some jobs', () => {
  const ran = (id: string, differing: readonly string[]) =>
    jobOf({
      id,
      state: 'completed',
      benchmark_outcomes: [
        outcome(
          'a',
          ['s1', 's2', 's3'].map((scenario_name) => ({
            scenario_name,
            state: 'COMPLETED',
            environment_differs: differing.includes(scenario_name),
          })),
        ),
      ],
    })
  expect(incomparabilities([ran('one', ['s1', 's2']), ran('two', ['s1'])], noAgents)).toEqual([
    { kind: 'environment', text: 'Requested environment available in only some jobs: s2' },
  ])
})

describe('a job with several reward keys', () => {
  const rewarded = (name: string, rewards: object, state = 'COMPLETED', score: number | null = null) => ({
    scenario_definition_id: name,
    scenario_name: name,
    state,
    score,
    rewards,
  })
  const job = jobOf({
    state: 'completed',
    job_source: { type: 'imported' },
    metrics: ['accuracy', 'latency_sec'],
    judged_metric: 'accuracy',
    benchmark_outcomes: [
      outcome('quick', [
        rewarded('s1', { accuracy: 0.25, latency_sec: 12 }, 'COMPLETED', 0.25),
        rewarded('s2', { accuracy: 0.75, latency_sec: 8 }, 'COMPLETED', 0.75),
        rewarded('s3', { latency_sec: 20 }, 'TIMEOUT'),
      ]),
      outcome('slow', [
        rewarded('s1', { accuracy: 1, latency_sec: 40 }, 'COMPLETED', 1),
        rewarded('s2', { accuracy: 1, latency_sec: 60.5 }, 'COMPLETED', 1),
        rewarded('s3', { accuracy: 'none', latency_sec: null }, 'COMPLETED'),
      ]),
    ],
  })

  it('uses the default and names it in every format', () => {
    const report = reportOf(job)
    expect([report.metric, report.metrics, report.job.metric]).toEqual([
      'accuracy',
      ['accuracy', 'latency_sec'],
      'accuracy',
    ])
    expect(report.agents.map(({ mean }) => mean)).toEqual([1 / 3, 2 / 3])
    expect(report.verdict.more).toContain('Metric: accuracy.')
    expect(report.notes[0]).toBe('Metric: accuracy.')
    expect(reportMarkdown(report)).toContain('\n\nMetric: `accuracy`.\n\n')
    expect(reportCsv(report, 'agents')).toMatch(/,"metric","threshold",.*,"accuracy","1",/s)
  })

  it('uses another one on request', () => {
    const report = reportOf(requireMetric(job, 'latency_sec'))
    expect([report.metric, report.threshold, report.is_unit_range]).toEqual(['latency_sec', null, false])
    // A verified timeout keeps its reward; an invalid reward counts as 0.
    expect(report.agents.map(({ mean, n_scenarios }) => [mean, n_scenarios])).toEqual([
      [40 / 3, 3],
      [100.5 / 3, 3],
    ])
    expect(report.agents.map(({ n_passed }) => n_passed)).toEqual([null, null])
    expect(() => requireMetric(job, 'tokens')).toThrow('job has no metric tokens: it has accuracy, latency_sec')
    expect(() => requireMetric(jobOf({}), 'tokens')).toThrow('it has none')
  })

  it('falls back to the metrics of its outcomes', () => {
    expect(reportOf({ ...job, metrics: null }).metrics).toEqual(['accuracy', 'latency_sec'])
  })
})
