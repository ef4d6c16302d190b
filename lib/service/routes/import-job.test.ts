import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import {
  type Files,
  harborJob,
  importJob,
  logsOf,
  sendJob,
  trialResult,
  zipOf,
} from '#lib/service/testing/harbor-job.ts'
import { agent, createJob, makeScenarios, untilEnded } from '#lib/service/testing/jobs.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
})
afterAll(() => service.close())

const send = (file: Blob, name?: string) => sendJob(service, file, { name })
const imported = (files: Files) => importJob(service, files)

describe('a Harbor job', () => {
  const trials = {
    pay__aaaaaaa: { task: 'pay', reward: 1, at: 100 },
    pay__bbbbbbb: { task: 'pay', reward: 0, at: 10 },
    ship__ccccccc: { task: 'ship', reward: 0.25 },
    ship__ddddddd: { task: 'ship', exception: 'VerifierTimeoutError', at: 70 },
    tax__eeeeeee: { task: 'tax', reward: 1, exception: 'AgentTimeoutError' },
    tax__fffffff: { task: 'tax', reward: 0, exception: 'NonZeroAgentExitCodeError', at: 70 },
    cart__ggggggg: { task: 'cart', exception: 'SandboxBuildFailedError' },
    cart__hhhhhhh: { task: 'cart', exception: 'CancelledError', at: 70 },
  }

  it('has the outcomes, attempts, tokens, times and state that Harbor recorded', async () => {
    const { job, warnings, already_imported, n_trials } = await imported(harborJob(trials))
    expect({ warnings, already_imported, n_trials }).toEqual({ warnings: [], already_imported: false, n_trials: 8 })
    expect(job).toMatchObject({
      name: 'nightly',
      state: 'completed',
      create_time_ms: Date.UTC(2026, 10, 1, 12),
      job_source: { type: 'imported', import_id: '5c1c0f6e-0000-4000-8000-000000000001' },
      job_spec: { orchestrator_config: { n_attempts: 2 } },
    })
    const [outcome] = job.benchmark_outcomes ?? []
    expect(outcome).toMatchObject({
      agent_name: 'codex',
      model_name: 'acme/large',
      n_completed: 5,
      n_failed: 1,
      n_timeout: 1,
      n_canceled: 1,
      average_score: (1 + 0 + 0.25 + 1 + 0) / 5,
    })
    const summaries = outcome?.scenario_outcomes.map(({ scenario_name, attempt, state, score, failure_reason }) =>
      [scenario_name, attempt, state, score, failure_reason?.exception_type].filter((each) => each != null).join(' '),
    )
    expect(summaries?.toSorted()).toEqual([
      'cart 1 FAILED SandboxBuildFailedError',
      'cart 2 CANCELED CancelledError',
      'pay 1 COMPLETED 0',
      'pay 2 COMPLETED 1',
      'ship 1 COMPLETED 0.25',
      'ship 2 TIMEOUT VerifierTimeoutError',
      'tax 1 COMPLETED 1 AgentTimeoutError',
      'tax 2 COMPLETED 0 NonZeroAgentExitCodeError',
    ])
    expect(outcome?.scenario_outcomes[0]).toMatchObject({
      agent_version: '1.2.3',
      duration_ms: 60_000,
      usage: { n_input_tokens: 1200, n_output_tokens: 300, cost_usd: 0.25 },
    })
  })

  it('is imported once', async () => {
    const again = await send(await zipOf(harborJob(trials)), 'another name')
    const jobs = await service.client.benchmarkJobs.list()
    const [first] = jobs.jobs.filter(({ name }) => name === 'nightly')
    expect(again.body).toMatchObject({ job_id: first?.id, name: 'nightly', already_imported: true })
    expect(jobs.jobs.filter(({ job_source }) => job_source?.type === 'imported')).toHaveLength(1)
  })

  it('keeps the log files of each trial', async () => {
    const { jobs } = await service.client.benchmarkJobs.list()
    const id = jobs[0]?.benchmark_outcomes?.[0]?.scenario_outcomes[0]?.scenario_run_id
    const response = await service.fetch(`/v1/scenarios/runs/${id}/download_logs`, { method: 'POST' })
    const bytes = Buffer.from(await response.arrayBuffer())
    for (const file of ['trial.log', 'verifier_reward.txt']) expect(bytes.includes(`${id}_${file}`)).toBe(true)
  })

  it('reports unreadable files, and imports the rest', async () => {
    const files = harborJob(
      { a__aaaaaaa: { task: 'a', reward: 1 }, c__ccccccc: { task: 'c' } },
      { id: 'broken', n_total_trials: 5, finished_at: null },
    )
    const { job, warnings } = await imported({
      ...files,
      'nightly/c__ccccccc/result.json': '{"task_name": "c", "verifier_',
      'nightly/d__ddddddd/config.json': { task: { path: '/data/d' } },
    })
    const unfinished = 'The job was still running when its files were copied: 1 of 5 trials were imported'
    expect(warnings).toEqual([
      unfinished,
      expect.stringMatching(/^trial c__ccccccc is skipped: result.json is not valid JSON/),
      'trial d__ddddddd is skipped: result.json is missing',
    ])
    expect(job.state).toBe('incomplete')
    expect(job.warnings).toContain(unfinished)
    expect(job.benchmark_outcomes?.[0]).toMatchObject({ n_completed: 1, average_score: 1 })
  })

  const summaryOf = (job: BenchmarkJob) =>
    (job.benchmark_outcomes ?? [])
      .flatMap(({ agent_name, model_name, scenario_outcomes }) =>
        scenario_outcomes.map(({ scenario_name, attempt, state, score, failure_reason }) =>
          [agent_name, model_name, scenario_name, attempt, state, score, failure_reason?.exception_type]
            .filter((each) => each != null)
            .join(' '),
        ),
      )
      .toSorted()

  it('reads minimal files', async () => {
    const { job, warnings } = await imported({
      'result.json': { finished_at: '2026-01-01T00:10:00', stats: { evals: { 'terminus-2__my-model__tasks': {} } } },
      'task_a__0/result.json': {
        verifier_result: { rewards: { reward: 0 } },
        exception_info: { exception_type: 'TimeoutError', exception_message: null },
      },
      'task_b__0/result.json': { verifier_result: { rewards: 1 }, exception_info: null },
      'task_b__1/result.json': { exception_info: 'harbor.errors.ApiError: too much: 429' },
      'of-windows/result.json': {
        config: { task: { path: 'C:\\Users\\a b\\tasks\\task_w\\' } },
        verifier_result: { rewards: { reward: 0.5 } },
      },
      'task_c__0/result.json': { exception_info: 'RuntimeError: No space left', config: null },
      'task_c__0/config.json': { agent: { name: null, import_path: 'team.agents:Own', model_name: 'my-model' } },
      'task_d__0/result.json': { task_name: 'task_d', started_at: '2026-01-01T00:01:00', verifier_result: null },
    })
    expect(summaryOf(job)).toEqual([
      'terminus-2 my-model task_a 1 COMPLETED 0 TimeoutError',
      'terminus-2 my-model task_b 1 COMPLETED 1',
      'terminus-2 my-model task_b 2 FAILED ApiError',
      'terminus-2 my-model task_c 1 FAILED RuntimeError',
      'terminus-2 my-model task_w 1 COMPLETED 0.5',
    ])
    expect(warnings).toContain(
      'trial task_d__0 is skipped: result.json has neither a reward nor an end: it was still running',
    )
  })

  it('sums usage over steps, and uses the exception of the last', async () => {
    const used = (n_input_tokens: number, cost_usd: number | null) => ({ n_input_tokens, n_output_tokens: 1, cost_usd })
    const more = (...step_results: object[]) => ({ agent_result: null, verifier_result: null, step_results })
    const { job } = await imported(
      harborJob(
        {
          two__aaaaaaa: {
            task: 'two',
            more: more(
              { step_name: 'a', agent_result: used(10, 0.5), verifier_result: { rewards: { reward: 1 } } },
              { step_name: 'b', agent_result: used(20, null), verifier_result: { rewards: { reward: 0 } } },
            ),
          },
          end__bbbbbbb: {
            task: 'end',
            more: more({ step_name: 'a', exception_info: { exception_type: 'VerifierTimeoutError' } }),
          },
          cut__ccccccc: { task: 'cut' },
        },
        { id: 'steps' },
      ),
    )
    expect(job.warnings).toEqual(['cut: its files contain neither a reward nor an exception'])
    expect(summaryOf(job)).toEqual([
      'codex acme/large cut 1 FAILED',
      'codex acme/large end 1 TIMEOUT VerifierTimeoutError',
      'codex acme/large two 1 COMPLETED 0.5',
    ])
    const outcome = job.benchmark_outcomes?.[0]?.scenario_outcomes.find(({ scenario_name }) => scenario_name === 'two')
    expect(outcome?.usage).toMatchObject({ n_input_tokens: 30, n_output_tokens: 2, cost_usd: 0.5 })
  })

  it('reads a byte order mark, NaN, huge numbers and duplicate names', async () => {
    const result = JSON.stringify(trialResult('a__aaaaaaa', { task: 'a "NaN"', reward: 1 }))
    const huge = trialResult('b__bbbbbbb', { task: 'ü / 😀', reward: 1e308 })
    const { job, warnings } = await imported({
      ...harborJob({}, { id: 'numbers', n_total_trials: 1e300, stats: { n_retries: 1 } }),
      'nightly/a__aaaaaaa/result.json': `\uFEFF${result.replace('"cost_usd":0.25', '"cost_usd":NaN').replace('"metadata":null', '"metadata":{"x":[-Infinity]}')}`,
      'nightly/b__bbbbbbb/result.json': { ...huge, agent_result: { n_input_tokens: 1e30, cost_usd: 0.5 } },
      'nightly/b__bbbbbbb.1/result.json': { ...huge, started_at: '2026-11-01T12:30:00Z' },
    })
    expect(summaryOf(job)).toEqual([
      'codex acme/large a "NaN" 1 COMPLETED 1',
      'codex acme/large ü / 😀 1 COMPLETED 1e+308',
      'codex acme/large ü / 😀 2 COMPLETED 1e+308',
    ])
    expect(warnings).toEqual(['1 retry was made; Harbor keeps only the last run of each trial'])
    expect(job.benchmark_outcomes?.[0]?.scenario_outcomes.map(({ usage }) => usage?.cost_usd ?? null)).toContain(0.5)
  })

  it('lists agents in the order of the config', async () => {
    const names = [
      ['late', 'acme/large'],
      ['a', 'acme/large'],
      ['b', 'acme/one'],
      ['b', 'acme/two'],
    ] as const
    const agents = [{ name: 'b', model_name: 'acme/two' }, { name: 'removed' }, { name: 'b', model_name: 'acme/one' }]
    const { job } = await imported({
      'config.json': { job_name: 'ordered', agents: [...agents, { name: 'a' }] },
      ...Object.fromEntries(
        names.map(([agent, model], at) => [
          `x__${at}/result.json`,
          trialResult(`x__${at}`, { task: 'x', reward: 1, agent, model }),
        ]),
      ),
    })
    expect(job.job_spec?.agent_configs.map(({ name, model_name }) => `${name} ${model_name}`)).toEqual([
      'b acme/two',
      'b acme/one',
      'a acme/large',
      'late acme/large',
    ])
  })

  const one = (name: string, reward: number, more: object = {}) => trialResult(name, { task: name, reward, more })
  const jobAt = (folder: string, files: Files): Files =>
    Object.fromEntries(Object.entries(files).map(([path, content]) => [`${folder}/${path}`, content]))
  const named = (id: string, more: object = {}) => ({
    id,
    finished_at: '2026-11-01T13:00:00Z',
    n_total_trials: 2,
    ...more,
  })
  const layouts: Record<string, { files: Files; expected: string[]; warnings?: unknown[] }> = {
    'in a folder of jobs with other files': {
      files: {
        'jobs/.DS_Store': 'x',
        'jobs/readme.md': 'x',
        ...jobAt('jobs/nightly', {
          'config.json': { job_name: 'nightly', agents: [] },
          'result.json': named('layout-1'),
        }),
        'jobs/nightly/a__aaaaaaa/result.json': one('a', 1),
        'jobs/nightly/b__bbbbbbb/result.json': one('b', 0),
      },
      expected: ['codex acme/large a 1 COMPLETED 1', 'codex acme/large b 1 COMPLETED 0'],
    },
    'with a folder for each task': {
      files: {
        'result.json': named('layout-2', { n_total_trials: 3 }),
        'config.json': { job_name: 'by task' },
        'a/a__aaaaaaa/result.json': one('a', 1),
        'a/a__bbbbbbb/result.json': { ...one('a', 0), id: 'other' },
        'b/b__aaaaaaa/result.json': one('b', 0.5),
      },
      expected: [
        'codex acme/large a 1 COMPLETED 1',
        'codex acme/large a 2 COMPLETED 0',
        'codex acme/large b 1 COMPLETED 0.5',
      ],
    },
    'without its own files, and with numbered trials': {
      files: {
        'baseline/a/a_1/result.json': one('a', 1),
        'baseline/a/a_2/result.json': { ...one('a', 0), id: 'other' },
        'baseline/b-001/b-001_1/result.json': one('b-001', 1),
      },
      expected: [
        'codex acme/large a 1 COMPLETED 1',
        'codex acme/large a 2 COMPLETED 0',
        'codex acme/large b-001 1 COMPLETED 1',
      ],
      warnings: [expect.stringContaining('result.json of the job is missing'), expect.stringContaining('config.json')],
    },
    'with only its own record, whose statistics have the rewards': {
      files: {
        'result.json': named('layout-statistics', {
          n_total_trials: 4,
          stats: {
            evals: {
              codex__large__bench: {
                reward_stats: { reward: { '1.0': ['a__aaaaaaa'], '0.5': ['a__bbbbbbb', 'b__aaaaaaa'] } },
                exception_stats: { RuntimeError: ['c__aaaaaaa'] },
              },
            },
          },
        }),
      },
      expected: [
        'codex large a 1 COMPLETED 1',
        'codex large a 2 COMPLETED 0.5',
        'codex large b 1 COMPLETED 0.5',
        'codex large c 1 FAILED RuntimeError',
      ],
      warnings: [expect.stringContaining('config.json'), expect.stringContaining('no trial folders')],
    },
    'whose agent is configured by its import path': {
      files: {
        'config.json': { job_name: 'own agent', agents: [{ name: 'team.agents:Own', model_name: 'acme/large' }] },
        'result.json': named('layout-own-agent', { n_total_trials: 1 }),
        'a__aaaaaaa/result.json': one('a', 1, {
          config: { task: { path: 'a' }, agent: { name: 'team.agents:Own', model_name: 'acme/large' } },
          agent_info: { name: 'own', version: '1' },
        }),
      },
      expected: ['own acme/large a 1 COMPLETED 1'],
    },
    'of a single trial, whose agent left a config.json': {
      files: { 'c__aaaaaaa/result.json': one('c', 1), 'c__aaaaaaa/agent/config.json': '{}' },
      expected: ['codex acme/large c 1 COMPLETED 1'],
      warnings: [expect.stringContaining('result.json of the job is missing'), expect.stringContaining('config.json')],
    },
    'whose record also contains its trials, one of them only there': {
      files: {
        'config.json': { job_name: 'whole record' },
        'result.json': named('layout-3', {
          trial_results: [one('a__aaaaaaa', 1), one('b__bbbbbbb', 0.5), one('c__ccccccc', 0), null, {}],
          n_total_trials: 3,
        }),
        'a__aaaaaaa/result.json': one('a__aaaaaaa', 1),
        'b__bbbbbbb/result.json': '{"task_name',
        'b__bbbbbbb/trial.log': 'x',
      },
      expected: ['a', 'b', 'c'].map(
        (name, at) => `codex acme/large ${name}__${name.repeat(7)} 1 COMPLETED ${[1, 0.5, 0][at]}`,
      ),
    },
    'with a copy of a trial, and a trial with only its logs': {
      files: {
        'config.json': { job_name: 'copies' },
        'result.json': named('layout-4', { n_total_trials: 2 }),
        'a__aaaaaaa/result.json': one('a', 1),
        'a__aaaaaaa copy/result.json': one('a', 1),
        'b__bbbbbbb/agent/oracle.txt': 'x',
      },
      expected: ['codex acme/large a 1 COMPLETED 1'],
      warnings: [
        'Trials are missing: 1 of 2 trials were imported',
        'trial a__aaaaaaa copy is skipped: it is a copy of a__aaaaaaa',
        'trial b__bbbbbbb is skipped: result.json is missing',
      ],
    },
    'of Terminal-Bench 1': {
      files: {
        'run/run_metadata.json': {
          run_id: 'run',
          agent_name: 'terminus',
          model_name: 'acme/large',
          start_time: '2025-09-05T16:26:44.1',
          end_time: '2025-09-05T17:26:44.1',
        },
        'run/results.json': { id: 'tb-1', results: [], accuracy: 0.25, n_resolved: 1, n_unresolved: 3 },
        ...Object.fromEntries(
          [
            { is_resolved: true, failure_mode: 'unset' },
            { is_resolved: false, failure_mode: 'agent_timeout' },
            { is_resolved: false, failure_mode: 'unset' },
            { is_resolved: null, failure_mode: 'unknown_agent_error' },
          ].map((result, at) => {
            const trial_name = `t${at}.1-of-1.run`
            const times = { trial_started_at: '2025-09-05T23:32:19.26+00:00', trial_ended_at: null }
            const record = { id: `tb-${at}`, trial_name, task_id: `t${at}`, total_input_tokens: 7, ...result, ...times }
            return [`run/t${at}/${trial_name}/results.json`, record]
          }),
        ),
      },
      expected: [
        'terminus acme/large t0 1 COMPLETED 1',
        'terminus acme/large t1 1 TIMEOUT AgentTimeoutError',
        'terminus acme/large t2 1 COMPLETED 0',
        'terminus acme/large t3 1 FAILED unknown_agent_error',
      ],
    },
  }
  it.each(Object.entries(layouts))('%s has its trials', async (_, { files, expected, warnings = [] }) => {
    const { job, ...found } = await imported(files)
    expect(summaryOf(job)).toEqual(expected)
    expect(found.warnings).toEqual(warnings)
    expect(job.state).toBe('completed')
  })

  it('is one of several in an archive, of which a broken one is skipped', async () => {
    const job = (id: string, reward: number) => ({
      'config.json': { job_name: id },
      'result.json': named(id, { n_total_trials: 1 }),
      'a__aaaaaaa/result.json': one('a', reward),
    })
    const run = (name: string) => ({
      'results.json': {
        benchmark_run_id: `bmr_${name}`,
        name,
        agent_name: name,
        scenario_runs: [
          { scenario_run_id: 'scr_1', scenario_id: 'scn_1', scenario_name: 's', state: 'completed', score: 1 },
        ],
      },
    })
    const files = {
      ...jobAt('jobs/x', job('x', 1)),
      ...jobAt('jobs/old/y', job('y', 0)),
      ...jobAt('jobs/broken', { 'config.json': { job_name: 'broken' }, 'a__aaaaaaa/result.json': '{"task_name' }),
      ...jobAt('jobs/unreadable', { ...run('unreadable'), 'b/scr_1_a': 'x', 'b/zzzzz_a/c': 'x' }),
      ...jobAt('logs/one', run('one')),
      'jobs/loose/pay/pay__aaaaaaa/result.json': one('pay', 0.5),
      'jobs/loose/ship/ship__aaaaaaa/result.json': one('ship', 1),
      'arms/one/baseline/pay__aaaaaaa/result.json': one('pay', 0),
      'arms/two/baseline/ship__aaaaaaa/result.json': one('ship', 0),
    }
    const { job: first, jobs, skipped } = await imported(files)
    const summary = jobs.map(({ name, path, n_trials, already_imported }) => [name, path, n_trials, already_imported])
    expect(summary.toSorted()).toEqual([
      ['arms/one/baseline', 'arms/one/baseline', 1, false],
      ['arms/two/baseline', 'arms/two/baseline', 1, false],
      ['loose', 'jobs/loose', 2, false],
      ['one', 'logs/one', 1, false],
      ['x', 'jobs/x', 1, false],
      ['y', 'jobs/old/y', 1, false],
    ])
    expect(first.id).toBe(jobs[0]?.job_id)
    expect(skipped.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
      { path: 'jobs/broken', reason: expect.stringContaining('no trial with a result') },
      { path: 'jobs/unreadable', reason: expect.stringContaining('in place of a folder') },
    ])
    const { runs } = await service.client.scenarioRuns.list({ query: { scenario_id: 'scn_1' } })
    expect(runs).toEqual([])
    const again = await imported(files)
    expect(again.jobs.map(({ already_imported }) => already_imported)).toEqual(jobs.map(() => true))
    expect(again.skipped).toEqual(skipped)
  })

  it('has the chosen agent and model where its files name none', async () => {
    const record = (agent: object) => ({ ...one('a', 1), config: { task: { path: 'a' }, agent }, agent_info: null })
    const files = (agent: object) => ({
      'result.json': named('unnamed', { n_total_trials: 1 }),
      'a__aaaaaaa/result.json': record(agent),
    })
    const agentsOf = ({ job, jobs }: Awaited<ReturnType<typeof imported>>) => [
      job.benchmark_outcomes?.map(({ agent_name, model_name }) => [agent_name, model_name]),
      jobs[0]?.missing_names,
    ]
    expect(agentsOf(await imported(files({})))).toEqual([[['unknown agent', null]], ['agent_name', 'model_name']])
    const names = { agent_name: 'solver', model_name: 'acme/small' }
    const both = await importJob(service, files({}), names)
    expect(agentsOf(both)).toEqual([[['solver', 'acme/small']], []])
    expect((await importJob(service, files({}), names)).job_id).toBe(both.job_id)
    const kept = { ...files({ name: 'codex', model_name: 'acme/large' }), 'result.json': named('named') }
    expect(agentsOf(await importJob(service, kept, names))).toEqual([[['codex', 'acme/large']], []])
  })

  it('is imported as another job if it continued since the last import', async () => {
    const a = { a__aaaaaaa: { task: 'a', reward: 1 } }
    const both = { ...a, b__bbbbbbb: { task: 'b', reward: 0 } }
    const first = await imported(harborJob(a, { id: 'grown', finished_at: null, n_total_trials: 2 }))
    const second = await imported(harborJob(both, { id: 'grown' }))
    expect(second).toMatchObject({
      already_imported: false,
      n_trials: 2,
      warnings: [`An earlier state of this job was imported before: ${first.name} (${first.job_id}), with 1 trial`],
    })
    const { already_imported, job_id } = await imported(harborJob(both, { id: 'grown' }))
    expect([already_imported, job_id]).toEqual([true, second.job_id])
  })
})

describe('a hostile archive', () => {
  it('is rejected if it is not a zip or not a job', async () => {
    const rejected = async (file: Blob) => (await send(file)).body
    expect(await rejected(new Blob(['no zip']))).toMatchObject({ code: 'invalid_argument', field: 'file' })
    expect(await rejected(await zipOf({ 'a/readme.txt': 'x' }))).toMatchObject({
      message: expect.stringContaining('The archive contains neither a Harbor job'),
    })
  })

  it('writes nothing outside of its folder', async () => {
    const files = harborJob({ a__aaaaaaa: { task: 'a', reward: 1 } }, { id: 'harm' })
    const harmless = Buffer.from(await (await zipOf({ ...files, 'nightly/..x/escaped': 'x' })).arrayBuffer())
    // In the central directory and in the local header.
    const text = harmless.toString('latin1').replaceAll('nightly/..x/escaped', '../../../../escaped')
    const { status, body } = await send(new Blob([Buffer.from(text, 'latin1')]))
    expect({ status, warnings: body.warnings }).toEqual({
      status: 200,
      warnings: [expect.stringContaining('its path leaves the archive')],
    })
  })

  it('skips impossible names without revealing local paths', async () => {
    const names = { 'nightly/a': 'x', 'nightly/a/b/c': 'x', [`nightly/${'n'.repeat(300)}`]: 'x' }
    const job = harborJob({ a__aaaaaaa: { task: 'a', reward: 1 } }, { id: 'names' })
    const { n_trials, warnings } = await imported({ ...names, ...job })
    expect([n_trials, warnings]).toEqual([1, [expect.stringContaining('2 files of the archive were skipped')]])
    expect(warnings[0]).not.toContain(service.dataDir)
  })
})

it('exported logs import with the same numbers', async () => {
  const scenario_ids = await makeScenarios(service.client, 3)
  const made = await createJob(service.client, {
    type: 'scenarios',
    scenario_ids,
    agent_configs: [agent('half', 'echo 0.5 > ~/answer')],
    orchestrator_config: { n_concurrent_trials: 3 },
  })
  const job = await untilEnded(service.client, made.id)
  const { job: again } = await importJob(service, await logsOf(service, job))
  expect(again.job_source).toMatchObject({ type: 'imported', import_id: job.benchmark_outcomes?.[0]?.benchmark_run_id })
  const numbers = ({ benchmark_outcomes }: BenchmarkJob) =>
    benchmark_outcomes?.map((outcome) => ({
      ...outcome,
      benchmark_run_id: '',
      duration_ms: 0,
      scenario_outcomes: outcome.scenario_outcomes
        .map(({ scenario_run_id: _, usage: __, trajectories: ___, ...rest }) => rest)
        .sort((a, b) => (a.scenario_definition_id < b.scenario_definition_id ? -1 : 1)),
    }))
  expect(numbers(again)).toEqual(numbers(job))
})

describe('an archive with an invalid layout', () => {
  const ownExport = (files: Files): Files => ({
    'results.json': {
      benchmark_run_id: `bmr_${Object.keys(files).join()}`,
      name: 'export',
      agent_name: 'a',
      scenario_runs: [
        { scenario_run_id: 'scr_1', scenario_id: 'scn_1', scenario_name: 's', state: 'completed', score: 1 },
      ],
    },
    ...files,
  })

  it.each([
    ['a file where a folder belongs', { 'logs/scr_1_a': 'x', 'logs/zzzzz_a/b': 'y' }],
    ['a folder where a file belongs', { 'logs/scr_1_a/c': 'x', 'logs/zzzzz_a': 'y' }],
  ])('is rejected with 400: %s', async (_, files) => {
    expect(await send(await zipOf(ownExport(files)))).toMatchObject({
      status: 400,
      body: { code: 'invalid_argument', field: 'file', message: expect.stringContaining('in place of a folder') },
    })
  })

  it.each(['x'.repeat(300), 'a\0b', '../outside', '..'])('skips a trial named %j', async (name) => {
    const job = {
      id: name,
      n_total_trials: 2,
      finished_at: '2026-11-01T12:00:00Z',
      trial_results: [{ ...trialResult('named', { task: 'named', reward: 1 }), trial_name: name }],
    }
    const { n_trials, warnings } = await imported({
      'result.json': job,
      'config.json': { job_name: 'named' },
      'pay__a/result.json': trialResult('pay__a', { task: 'pay', reward: 1 }),
    })
    expect(n_trials).toBe(1)
    expect(warnings).toContain('a trial of the job is skipped: its name is not a valid folder name')
  })
})
