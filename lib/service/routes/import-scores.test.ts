import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BenchmarkJob, BenchmarkJobImport } from '#lib/contract/benchmark-jobs.ts'
import { type Files, harborJob, importJob, logsOf, sendJob, zipOf } from '#lib/service/testing/harbor-job.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
})
afterAll(() => service.close())

const imported = (files: Files | Blob, choices?: BenchmarkJobImport) => importJob(service, files, choices)

const noTimes = { started_at: null, finished_at: null }
const withRewards = (task: string, rewards: unknown, more: object = {}) => ({
  task,
  more: { verifier_result: { rewards }, ...more },
})
const outcomesOf = (job: BenchmarkJob) => (job.benchmark_outcomes ?? []).flatMap((each) => each.scenario_outcomes)
const scoresOf = (job: BenchmarkJob) =>
  Object.fromEntries(outcomesOf(job).map(({ scenario_name, score }) => [scenario_name, score]))
const runOf = (job: BenchmarkJob) => ({ params: { id: job.benchmark_outcomes?.[0]?.benchmark_run_id ?? '' } })

let jobs = 0
/** A job whose trials are named after their tasks. */
const jobOf = (trials: object[], more: object = {}): Files =>
  harborJob(Object.fromEntries(trials.map((trial, at) => [`trial-${at}__aaaaaaa`, trial as { task: string }])), {
    id: `job-${++jobs}`,
    ...more,
  })

describe('an imported run without an agent', () => {
  const record = (task: string, is_resolved: boolean) => ({
    id: `${task}-1`,
    trial_name: `${task}.1-of-1.r1`,
    task_id: task,
    is_resolved,
    failure_mode: 'unset',
    total_input_tokens: 10,
    total_output_tokens: 5,
    trial_started_at: '2026-01-02T03:04:05+00:00',
    trial_ended_at: '2026-01-02T03:05:05+00:00',
  })
  const records = [record('sort-lines', true), record('add-numbers', false)]
  const results = { results: records, n_resolved: 1, n_unresolved: 1, pass_at_k: {}, accuracy: 0.5 }
  const run: Files = {
    'run/results.json': results,
    ...Object.fromEntries(records.map((each) => [`run/${each.task_id}/${each.trial_name}/results.json`, each])),
  }

  it('belongs to an unknown agent, or the one given at import', async () => {
    const { job, warnings } = await imported(run)
    expect(warnings).toEqual(['No file names the agent of 2 trials'])
    expect(job.benchmark_outcomes).toMatchObject([
      { agent_name: 'unknown agent', model_name: null, n_completed: 2, average_score: 0.5, n_total_trials: 2 },
    ])
    const named = await imported(run, { agent_name: ' solver ' })
    expect(named).toMatchObject({ already_imported: false, warnings: [], n_trials: 2 })
    expect(named.job.benchmark_outcomes).toMatchObject([{ agent_name: 'solver', average_score: 0.5 }])
    expect(await imported(run, { agent_name: 'solver' })).toMatchObject({ already_imported: true })
  })

  it.each<[string, Files]>([
    ['a folder with only results.json', { 'only/results.json': { ...results, id: 'only' } }],
    ['a results.json with only trials', { 'run/results.json': { id: 'plain', results: records } }],
    [
      'trials without names',
      { 'results.json': { results: records.map(({ trial_name: _, ...each }) => ({ ...each, id: null })) } },
    ],
    [
      'Harbor trials without a configuration',
      Object.fromEntries(
        records.map(({ task_id, is_resolved }) => [
          `${task_id}__aaaaaaa/result.json`,
          { task_name: task_id, verifier_result: { rewards: { reward: Number(is_resolved) } } },
        ]),
      ),
    ],
  ])('is read from %s', async (_, files) => {
    const { job } = await imported(files)
    expect(scoresOf(job)).toEqual({ 'sort-lines': 1, 'add-numbers': 0 })
    expect(job.benchmark_outcomes).toMatchObject([{ agent_name: 'unknown agent', average_score: 0.5 }])
  })

  it('keeps the agent names of its files', async () => {
    const { job } = await imported(jobOf([{ task: 'a', reward: 1 }]), { agent_name: 'solver' })
    expect(job.benchmark_outcomes).toMatchObject([{ agent_name: 'codex' }])
  })
})

it('an imported run lists its scenario runs with name and score', async () => {
  const { job } = await imported(
    jobOf([
      { task: 'sort-lines', reward: 1 },
      { task: 'add-numbers', reward: 0.25 },
      { task: 'broken', exception: 'RuntimeError' },
    ]),
  )
  const { runs } = await service.client.benchmarkRuns.scenarioRuns(runOf(job))
  const result = (score: number) => ({
    score,
    scoring_function_results: [{ scoring_function_name: 'reward', score, output: '', state: 'complete' }],
  })
  expect(runs.map(({ name, scoring_contract_result }) => [name, scoring_contract_result]).toSorted()).toEqual([
    ['add-numbers', result(0.25)],
    ['broken', null],
    ['sort-lines', result(1)],
  ])
  const { runs: found } = await service.client.benchmarkRuns.scenarioRuns({ ...runOf(job), query: { search: 'sort' } })
  expect(found.map(({ name }) => name)).toEqual(['sort-lines'])
})

describe('unknown times', () => {
  it('are null in trials, runs and outcomes', async () => {
    const { job } = await imported(jobOf([{ task: 'a', reward: 1, more: noTimes }]))
    expect(job.create_time_ms).toBe(Date.UTC(2026, 10, 1, 12))
    expect(job.benchmark_outcomes?.[0]).toMatchObject({ duration_ms: null, scenario_outcomes: [{ duration_ms: null }] })
    expect(await service.client.benchmarkRuns.get(runOf(job))).toMatchObject({ start_time_ms: null, duration_ms: null })
    const { runs } = await service.client.benchmarkRuns.scenarioRuns(runOf(job))
    expect(runs).toMatchObject([{ start_time_ms: null, duration_ms: null }])
    expect((await (await logsOf(service, job)).text()).slice(0, 2)).toBe('PK')
  })

  it.each([
    ['completed', {}],
    ['incomplete', { n_total_trials: 2 }],
  ])('are null in a %s job without any times', async (state, more) => {
    const { job } = await imported(jobOf([{ task: 'a', reward: 1, more: noTimes }], { ...noTimes, ...more }))
    expect(job).toMatchObject({ state, create_time_ms: null })
  })

  it('leave the duration null if one is known, or the end is before the start', async () => {
    const { job } = await imported(
      jobOf([
        { task: 'no end', reward: 1, more: { finished_at: null } },
        { task: 'no start', reward: 1, more: { started_at: null } },
        { task: 'backward', reward: 1, more: { finished_at: '2026-11-01T11:00:00Z' } },
      ]),
    )
    const { runs } = await service.client.benchmarkRuns.scenarioRuns(runOf(job))
    const startMs = Date.UTC(2026, 10, 1, 12)
    expect(Object.fromEntries(runs.map(({ name, ...run }) => [name, [run.start_time_ms, run.duration_ms]]))).toEqual({
      'no end': [startMs, null],
      'no start': [null, null],
      backward: [startMs, null],
    })
  })

  it('do not merge two runs', async () => {
    const trial = (reward: number) => ({ task_name: 'a', verifier_result: { rewards: { reward } } })
    const first = await imported({ 'x__aaaaaaa/result.json': trial(1) })
    const second = await imported({ 'x__aaaaaaa/result.json': trial(0.5) })
    expect([first.already_imported, second.already_imported]).toEqual([false, false])
  })
})

describe('an exported run', () => {
  it('keeps rewards, metric, settings, planned trials and times', async () => {
    const { job } = await imported(
      {
        ...jobOf(
          [
            withRewards('timed', { accuracy: 40, speed: -1 }),
            withRewards('untimed', { accuracy: 0.5 }, noTimes),
            { task: 'broken', exception: 'RuntimeError' },
          ],
          { n_total_trials: 4 },
        ),
        'nightly/config.json': { job_name: 'nightly', timeout_multiplier: 2 },
      },
      { judged_metric: 'speed' },
    )
    const again = await imported(await logsOf(service, job))
    const numbers = ({ metrics, judged_metric, settings, create_time_ms, benchmark_outcomes }: BenchmarkJob) => ({
      metrics,
      judged_metric,
      settings,
      create_time_ms,
      outcomes: benchmark_outcomes?.map(({ benchmark_run_id: _, scenario_outcomes, ...outcome }) => ({
        ...outcome,
        scenario_outcomes: scenario_outcomes
          .map(({ scenario_run_id: _, ...each }) => each)
          .toSorted((a, b) => (a.scenario_name < b.scenario_name ? -1 : 1)),
      })),
    })
    expect(again.already_imported).toBe(false)
    expect(numbers(again.job)).toEqual(numbers(job))
  })

  it('is an incomplete job if it was still running', async () => {
    const scenarioRun = (id: string, state: string, score: number | null) => ({
      scenario_run_id: `scr_${id}`,
      scenario_id: `scn_${id}`,
      scenario_name: id,
      state,
      score,
    })
    const scenario_runs = [scenarioRun('a', 'COMPLETED', 1), scenarioRun('b', 'running', null)]
    const results = { benchmark_run_id: 'bmr_going', name: 'going', state: 'running', n_total_trials: 2, scenario_runs }
    const { job, warnings } = await imported({ 'results.json': { ...results, start_time_ms: 1_700_000_000_000 } })
    expect(job.state).toBe('incomplete')
    expect(scoresOf(job)).toEqual({ a: 1 })
    expect(warnings).toContain('The job was still running when its files were copied: 1 of 2 trials were imported')
  })
})

describe('imported rewards', () => {
  it.each<[unknown, number]>([
    [' 0.25 ', 0.25],
    [40, 40],
    [-1, -1],
  ])('%j counts %d, as in Harbor', async (reward, score) => {
    const { job } = await imported(jobOf([withRewards('a', { reward })]))
    expect(outcomesOf(job)).toMatchObject([{ state: 'COMPLETED', score, rewards: { reward: score } }])
    expect(job.benchmark_outcomes).toMatchObject([{ average_score: score }])
    expect(await service.client.benchmarkRuns.get(runOf(job))).toMatchObject({ score })
  })

  it.each([null, 'nan', { value: 1 }])('%j is not a reward', async (reward) => {
    const { job } = await imported(jobOf([withRewards('a', { reward })]))
    const warnings = ['rewards that are not numbers are ignored: reward', expect.anything()]
    expect(outcomesOf(job)).toMatchObject([{ state: 'FAILED', score: null, rewards: null, warnings }])
  })

  it.each([true, '1.0', 1])('may lack a key in older versions: %j', async (rewards) => {
    const { job } = await imported(jobOf([withRewards('a', rewards)]))
    expect(outcomesOf(job)).toMatchObject([{ score: 1, rewards: { reward: 1 } }])
  })

  it('may be outside 0 to 1', async () => {
    const of = (agent: string, least: number) =>
      Array.from({ length: 8 }, (_, at) => ({ task: `t${at}`, agent, reward: least + at }))
    const { job } = await imported(jobOf([...of('low', 40), ...of('high', 70)]))
    const means = job.benchmark_outcomes?.map(({ agent_name, average_score }) => [agent_name, average_score])
    expect(Object.fromEntries(means ?? [])).toEqual({ low: 43.5, high: 73.5 })
    const mixed = [-1, 2, 0.5, 1.5, 0.25].map((reward, at) => ({ task: `t${at}`, reward }))
    const { job: other } = await imported(jobOf(mixed))
    expect(other.benchmark_outcomes?.[0]?.average_score).toBe(0.65)
    expect((await service.client.benchmarkRuns.get(runOf(other))).score).toBe(0.65)
  })

  it('below 0 count after an agent timeout', async () => {
    const exception = 'AgentTimeoutError'
    const tasks = [
      { task: 'lost', reward: -1, exception },
      { task: 'nothing', reward: 0, exception },
    ]
    const { job } = await imported(jobOf(tasks))
    expect(outcomesOf(job)).toMatchObject([
      { scenario_name: 'lost', state: 'COMPLETED', score: -1, rewards: { reward: -1 } },
      { scenario_name: 'nothing', state: 'TIMEOUT', score: null, rewards: { reward: 0 } },
    ])
    expect((await service.client.benchmarkRuns.get(runOf(job))).score).toBe(-0.5)
  })
})

describe('several reward keys', () => {
  const trials = [
    withRewards('one', { accuracy: 0.25, latency_sec: 12 }),
    withRewards('two', { accuracy: 0.75, latency_sec: 8 }),
  ]

  it('are metrics, and the first scores the job', async () => {
    const { job } = await imported(jobOf(trials))
    expect(job).toMatchObject({ metrics: ['accuracy', 'latency_sec'], judged_metric: 'accuracy' })
    expect(scoresOf(job)).toEqual({ one: 0.25, two: 0.75 })
    const { runs } = await service.client.benchmarkRuns.scenarioRuns(runOf(job))
    expect(runs.find(({ name }) => name === 'one')?.scoring_contract_result).toMatchObject({
      score: 0.25,
      scoring_function_results: [
        { scoring_function_name: 'accuracy', score: 0.25 },
        { scoring_function_name: 'latency_sec', score: 12 },
      ],
    })
  })

  it('score the job by `reward` if present', async () => {
    const { job } = await imported(jobOf([withRewards('a', { tests_passed: 3, reward: 0.5 })]))
    expect(job).toMatchObject({ metrics: ['tests_passed', 'reward'], judged_metric: 'reward' })
    expect(scoresOf(job)).toEqual({ a: 0.5 })
  })

  it('score the job by the chosen metric', async () => {
    const files = jobOf(trials)
    const first = await imported(files)
    const { job, already_imported } = await imported(files, { judged_metric: 'latency_sec' })
    expect(already_imported).toBe(false)
    expect(job).toMatchObject({ judged_metric: 'latency_sec', benchmark_outcomes: [{ average_score: 10 }] })
    expect(await imported(files, { judged_metric: 'accuracy' })).toMatchObject({
      already_imported: true,
      job_id: first.job_id,
    })
  })

  it('cannot be chosen if no trial has them', async () => {
    const response = await sendJob(service, await zipOf(jobOf(trials)), { judged_metric: 'speed' })
    const message = 'No trial has the reward speed. Rewards in this job: accuracy, latency_sec'
    expect(response).toMatchObject({ status: 400, body: { field: 'judged_metric', message } })
  })

  it('count 0 in the run if a trial lacks them, as in Harbor', async () => {
    const { job } = await imported(jobOf([...trials, withRewards('three', { tests_passed: 3, tests_total: 20 })]))
    expect(job).toMatchObject({ metrics: ['accuracy', 'latency_sec', 'tests_passed', 'tests_total'] })
    expect(scoresOf(job)).toEqual({ one: 0.25, two: 0.75, three: null })
    expect(job.benchmark_outcomes).toMatchObject([{ n_completed: 3, average_score: 0.5 }])
    expect((await service.client.benchmarkRuns.get(runOf(job))).score).toBe(1 / 3)
    expect(outcomesOf(job).find(({ scenario_name }) => scenario_name === 'three')?.warnings).toEqual([
      'The reward accuracy, which scores the job, is missing and counts as 0',
    ])
  })

  it('are averaged over steps', async () => {
    const step = (rewards: object | null) => ({ verifier_result: rewards && { rewards } })
    const { job } = await imported(
      jobOf([
        {
          task: 'a',
          more: { step_results: [step({ style: '0.5', speed: 2 }), step({ style: true, speed: 4 }), step(null)] },
        },
      ]),
    )
    expect(outcomesOf(job)).toMatchObject([{ score: 0.75, rewards: { style: 0.75, speed: 3 } }])
  })

  it('may be named like properties of every object', async () => {
    const { job } = await imported(
      jobOf([withRewards('a', { constructor: 2, toString: 3 }), withRewards('b', { other: 1 })]),
    )
    expect(job.metrics).toEqual(['constructor', 'toString', 'other'])
    expect(scoresOf(job)).toEqual({ a: 2, b: null })
  })
})

describe('planned trials', () => {
  const one = { task: 'a', reward: 1 }
  const other = { task: 'a', reward: 1, agent: 'other' }
  const planned = (job: BenchmarkJob) => job.benchmark_outcomes?.map(({ n_total_trials }) => n_total_trials)
  const withAgents = (files: Files, ...names: string[]): Files => ({
    ...files,
    'nightly/config.json': { job_name: 'nightly', agents: names.map((name) => ({ name })) },
  })

  it('are those of the job, not tasks times attempts', async () => {
    const { job } = await imported(jobOf([one, one, { task: 'b', reward: 1 }]))
    expect(planned(job)).toEqual([3])
  })

  it('exceed the imported trials of a running job', async () => {
    const { job, warnings } = await imported(jobOf([one], { n_total_trials: 64, finished_at: null }))
    expect([job.state, planned(job)]).toEqual(['incomplete', [64]])
    expect(warnings).toEqual(['The job was still running when its files were copied: 1 of 64 trials were imported'])
  })

  it('are divided among all agents of the job', async () => {
    const files = jobOf([one, other], { n_total_trials: 12, finished_at: null })
    const { job } = await imported(withAgents(files, 'codex', 'other', 'late'))
    expect(planned(job)).toEqual([4, 4])
    expect(job.job_spec?.agent_configs.map(({ name }) => name)).toEqual(['codex', 'other', 'late'])
    expect(await service.client.benchmarkRuns.get(runOf(job))).toMatchObject({ n_scenario_runs: 1, n_total_trials: 4 })
  })

  it('are unknown if the files do not contain them', async () => {
    const { job } = await imported(jobOf([one], { n_total_trials: null, finished_at: null }))
    expect(planned(job)).toEqual([null])
    const uneven = jobOf([one, one, other], { n_total_trials: 5 })
    expect(planned((await imported(withAgents(uneven, 'codex', 'other'))).job)).toEqual([null, null])
  })

  it('of Terminal-Bench 1 are tasks times attempts', async () => {
    const record = (attempt: number) => ({
      trial_name: `a.${attempt}-of-3.run`,
      task_id: 'a',
      is_resolved: true,
      failure_mode: 'unset',
      trial_started_at: null,
      trial_ended_at: null,
    })
    const run = (results: object[], end_time: string | null): Files => ({
      'run/run_metadata.json': {
        run_id: 'run',
        uuid: `${++jobs}`,
        agent_name: 'x',
        task_ids: ['a'],
        n_attempts: 3,
        end_time,
      },
      'run/results.json': { results },
    })
    const { job } = await imported(run([record(1), record(2)], null))
    expect([job.state, planned(job)]).toEqual(['incomplete', [3]])
    const { job: ended } = await imported(run([record(1), record(2), record(3)], '2026-01-01T00:00:00'))
    expect([ended.state, planned(ended)]).toEqual(['completed', [3]])
  })
})

describe('settings', () => {
  it('come from the config, without secrets', async () => {
    const { job } = await imported({
      ...jobOf([{ task: 'a', reward: 1 }]),
      'nightly/config.json': {
        job_name: 'nightly',
        timeout_multiplier: 2,
        agent_timeout_multiplier: null,
        environment: {
          type: 'daytona',
          override_cpus: 4,
          override_memory_mb: 8192,
          env: { TOKEN: 'hidden' },
          kwargs: { api_key: 'hidden' },
          api_token: 'hidden',
        },
        verifier: { override_timeout_sec: 30, env: ['TOKEN=hidden'] },
        agents: [
          {
            name: 'codex',
            model_name: 'acme/large',
            max_timeout_sec: 60,
            kwargs: { effort: 'high', max_tokens: 100, api_key: 'hidden' },
          },
        ],
      },
    })
    expect(job.settings).toEqual({
      timeout_multiplier: 2,
      agent_timeout_multiplier: null,
      'environment.type': 'daytona',
      'environment.override_cpus': 4,
      'environment.override_memory_mb': 8192,
      'verifier.override_timeout_sec': 30,
      'agent.max_timeout_sec': 60,
      'agent.kwargs.effort': 'high',
      'agent.kwargs.max_tokens': 100,
    })
    expect(job.job_spec?.orchestrator_config?.timeout_multiplier).toBe(2)
  })
})
