import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { strongestIsolation } from '#lib/service/testing/isolation.ts'
import { createJob, follow, untilEnded } from '#lib/service/testing/jobs.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

let datasets: string
let service: TestService
beforeAll(async () => {
  datasets = mkdtempSync(join(tmpdir(), 'devdeck-datasets-'))
  makeTask('small/hello', { solution: 'echo hello > /app/out', test: '[[ $(cat /app/out) = hello ]]' })
  makeTask('small/quarter', { solution: 'echo 0.25 > /app/share', test: 'true', reward: 'cat /app/share' })
  const odd = 'FROM odd:1\nWORKDIR /app\nRUN pip install no-such\n'
  makeTask('odd/entry', { solution: 'true', test: 'false', dockerfile: odd })
  service = await startService({ isolation: strongestIsolation, datasets: [datasets] })
})
afterAll(async () => {
  await service.close()
  rmSync(datasets, { recursive: true })
})

interface Task {
  solution: string
  test: string
  reward?: string
  dockerfile?: string
}

const makeTask = (name: string, { solution, test, reward = 'echo 1', dockerfile = 'FROM x\nWORKDIR /app\n' }: Task) => {
  const files = {
    'task.toml':
      'version = "1.0"\n[metadata]\ndifficulty = "easy"\ntags = ["a", "b"]\nlevel = 3\nmore = {x = 1}\n[environment]\nworkdir = "/app"\n',
    'instruction.md': `Do ${name}.`,
    'environment/Dockerfile': dockerfile,
    'solution/solve.sh': `#!/bin/bash\n${solution}\n`,
    'tests/test.sh': `#!/bin/bash\nif ${test}; then ${reward}; else echo 0; fi > /logs/verifier/reward.txt 2>/dev/null\n`,
  }
  for (const [path, text] of Object.entries(files)) {
    const file = join(datasets, name, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    if (path.endsWith('.sh')) chmodSync(file, 0o755)
  }
}

const runningDevboxes = async () =>
  (await service.client.devboxes.list({ query: { status: 'running', limit: 100 } })).devboxes.length

const harbor = (yaml: string) => createJob(service.client, { type: 'harbor', inline_yaml: yaml })

describe.runIf(strongestIsolation === 'bubblewrap')('a job from a Harbor job file', () => {
  it('scores oracle and nop in every attempt', async () => {
    const yaml = `job_name: small
n_attempts: 2
n_concurrent_trials: 3
agents:
  - name: oracle
  - name: nop
datasets:
  - path: small
`
    const queued = await harbor(yaml)
    expect(queued).toMatchObject({ state: 'queued', name: 'small', job_source: { type: 'harbor', inline_yaml: yaml } })
    const job = await untilEnded(service.client, queued.id)
    expect(job).toMatchObject({ state: 'completed', failure_reason: null })
    expect(job.job_spec?.orchestrator_config).toMatchObject({ n_attempts: 2, n_concurrent_trials: 3 })
    const [oracle, nop] = job.benchmark_outcomes ?? []
    expect(oracle).toMatchObject({ agent_name: 'oracle', n_completed: 4, n_failed: 0, average_score: 0.625 })
    expect(nop).toMatchObject({ agent_name: 'nop', n_completed: 2, n_failed: 2 })
    const [hello, quarter] = job.job_spec?.scenario_ids ?? []
    expect(oracle?.scenario_outcomes.map((each) => [each.scenario_definition_id, each.score]).sort()).toEqual(
      [
        [hello, 1],
        [hello, 1],
        [quarter, 0.25],
        [quarter, 0.25],
      ].sort(),
    )
    const scenario = await service.client.scenarios.get({ params: { id: hello ?? '' } })
    expect(scenario.input_context.problem_statement).toBe('Do small/hello.')
    expect(scenario.metadata).toMatchObject({ difficulty: 'easy', tags: 'a, b', level: '3', harbor_dataset: 'small' })
    expect(scenario.metadata).not.toHaveProperty('more')
    expect((await service.client.scenarios.list()).scenarios).toEqual([])
    const ofJob = await service.client.scenarios.list({ query: { benchmark_job_id: job.id, limit: 10 } })
    expect(ofJob.scenarios.map(({ id }) => id).sort()).toEqual([hello, quarter].sort())
    const others = { benchmark_job_id: job.id, limit: 10 }
    expect((await service.otherClient.scenarios.list({ query: others })).scenarios).toEqual([])
    const run = await service.client.benchmarkRuns.get({ params: { id: oracle?.benchmark_run_id ?? '' } })
    expect(run).toMatchObject({ state: 'completed', score: 0.625 })
    const again = await harbor(yaml)
    expect(again.name).toMatch(/^small-/)
    await service.client.benchmarkJobs.cancel({ params: { id: again.id } })
    await untilEnded(service.client, again.id)
  })

  const rewardJson = (rewards: object) => `echo '${JSON.stringify(rewards)}' | tee /logs/verifier/reward.json`

  it('keeps all rewards and is scored by the first', async () => {
    const reward = rewardJson({ accuracy: 43.5, latency_sec: -12 })
    makeTask('metrics/task', { solution: 'true', test: 'true', reward })
    const queued = await harbor(
      'timeout_multiplier: 2\nenvironment: {override_cpus: 1}\nn_attempts: 2\ntasks:\n  - path: metrics/task\n',
    )
    const job = await untilEnded(service.client, queued.id)
    expect(job).toMatchObject({
      metrics: ['accuracy', 'latency_sec'],
      judged_metric: 'accuracy',
      settings: {
        timeout_multiplier: 2,
        agent_timeout_multiplier: null,
        'environment.type': 'devbox',
        'environment.override_cpus': 1,
      },
    })
    const [outcome] = job.benchmark_outcomes ?? []
    expect(outcome).toMatchObject({ average_score: 43.5, n_total_trials: 2 })
    expect(outcome?.scenario_outcomes[0]).toMatchObject({ score: 43.5, rewards: { accuracy: 43.5, latency_sec: -12 } })
    const params = { id: outcome?.benchmark_run_id ?? '' }
    expect(await service.client.benchmarkRuns.get({ params })).toMatchObject({ score: 43.5 })
    const { runs } = await service.client.benchmarkRuns.scenarioRuns({ params })
    expect(runs[0]?.scoring_contract_result).toEqual({
      score: 43.5,
      scoring_function_results: [
        { scoring_function_name: 'accuracy', score: 43.5, output: '', state: 'complete' },
        { scoring_function_name: 'latency_sec', score: -12, output: '', state: 'complete' },
      ],
    })
  })

  it('is scored by `reward` once a trial has it, earlier trials included', async () => {
    const reward = rewardJson({ accuracy: 0.9 })
    makeTask('mixed-keys/task', { solution: 'touch /app/out', test: '[[ -e /app/out ]]', reward })
    const queued = await harbor(
      'n_concurrent_trials: 1\nagents: [{name: oracle}, {name: nop}]\ntasks:\n  - path: mixed-keys/task\n',
    )
    const job = await untilEnded(service.client, queued.id)
    expect(job).toMatchObject({ metrics: ['accuracy', 'reward'], judged_metric: 'reward' })
    const [oracle, nop] = job.benchmark_outcomes ?? []
    expect(nop?.scenario_outcomes).toMatchObject([{ score: 0, rewards: { reward: 0 } }])
    expect(oracle?.scenario_outcomes).toMatchObject([
      {
        score: null,
        rewards: { accuracy: 0.9 },
        warnings: expect.arrayContaining(['The reward reward, which scores the job, is missing and counts as 0']),
      },
    ])
    const params = { id: oracle?.benchmark_run_id ?? '' }
    expect(await service.client.benchmarkRuns.get({ params })).toMatchObject({ state: 'completed', score: 0 })
  })

  it('shows warnings in the job and in the outcome', async () => {
    const queued = await harbor('job_nmae: x\ntasks:\n  - path: odd/entry\n')
    expect(queued.warnings).toEqual([
      expect.stringMatching(/^job_nmae is not a job file key/),
      expect.stringMatching(/^entry: The contents of the base image odd:1 are not available/),
    ])
    const job = await untilEnded(service.client, queued.id)
    expect(job.warnings).toEqual([
      ...(queued.warnings ?? []),
      expect.stringMatching(/^entry: Dockerfile line 3: skipped: pip install no-such/),
    ])
    const [outcome] = job.benchmark_outcomes ?? []
    expect(outcome).toMatchObject({ n_completed: 1, n_environment_differs: 1, n_canceled: 0 })
    expect(outcome?.scenario_outcomes[0]).toMatchObject({ score: 0, attempt: 1, environment_differs: true })
    expect(outcome?.scenario_outcomes[0]?.warnings).toHaveLength(2)
  })

  it('runs the other tasks if one is invalid or changes', async () => {
    makeTask('mixed/good', { solution: 'true', test: 'true', dockerfile: 'FROM debian\nWORKDIR /app\n' })
    makeTask('mixed/edited', { solution: 'true', test: 'true', dockerfile: 'FROM debian\nWORKDIR /app\n' })
    makeTask('mixed/bad', { solution: 'true', test: 'true' })
    writeFileSync(join(datasets, 'mixed/bad/task.toml'), 'version = "1.0"\n[agent]\ntimeout_sec = "long"\n')
    const queued = await harbor('datasets:\n  - path: mixed\n    task_names: ["*", "nothing"]\n')
    expect(queued.warnings).toEqual([
      'datasets[0].task_names: nothing matches no task',
      'bad: cannot be run: task.toml line 3, column 1: agent.timeout_sec must be a number of seconds',
    ])
    writeFileSync(join(datasets, 'mixed/edited/tests/test.sh'), 'echo 0 >/logs/verifier/reward.txt\n')
    const job = await untilEnded(service.client, queued.id)
    const results = job.benchmark_outcomes?.[0]?.scenario_outcomes.map(({ scenario_name, score, failure_reason }) => [
      scenario_name,
      score ?? `${failure_reason?.exception_type}: ${failure_reason?.exception_message}`,
    ])
    expect(job.state).toBe('completed')
    expect(results?.sort()).toEqual([
      ['bad', expect.stringMatching(/InvalidTaskError: .* task\.toml line 3, column 1: agent\.timeout_sec/)],
      ['edited', expect.stringMatching(/TaskChangedError/)],
      ['good', 1],
    ])
  })

  it('is canceled while running and queued', async () => {
    const { client } = service
    const endless = 'agents:\n  - name: command\n    kwargs: {command: "sleep infinity"}\ndatasets:\n  - path: small\n'
    const running = await harbor(`n_attempts: 50\nn_concurrent_trials: 2\n${endless}`)
    await follow(client, running.id, ({ in_progress_runs }) => in_progress_runs?.length === 1)
    await expect.poll(runningDevboxes).toBe(2)
    expect((await client.benchmarkJobs.cancel({ params: { id: running.id } })).state).toBe('cancelled')
    const queued = await harbor(endless)
    await client.benchmarkJobs.cancel({ params: { id: queued.id } })
    const [first, second] = await Promise.all([running, queued].map(({ id }) => untilEnded(client, id)))
    expect([first?.state, second?.state]).toEqual(['cancelled', 'cancelled'])
    expect(first?.benchmark_outcomes?.[0]).toMatchObject({ n_completed: 0, n_failed: 0, n_canceled: 2 })
    const done = await untilEnded(client, (await harbor('tasks:\n  - path: small/hello\n')).id)
    const rejected = await client.benchmarkJobs.cancel({ params: { id: done.id } }).catch((error: unknown) => error)
    expect(rejected).toMatchObject({ status: 409, message: expect.stringContaining('completed') })
  })

  it('reads hundreds of tasks, and cancels at once', async () => {
    const { client } = service
    for (let i = 0; i < 200; i++) makeTask(`many/task-${i}`, { solution: 'true', test: 'true' })
    const { id, state } = await harbor('datasets:\n  - path: many\n')
    expect(state).toBe('queued')
    const job = await follow(client, id, ({ in_progress_runs }) => in_progress_runs?.length === 1)
    expect(job.job_spec?.scenario_ids).toHaveLength(200)
    expect(job.warnings).toEqual([
      expect.stringMatching(/^task-0, task-1, task-10 and 197 more: The contents of the base image x/),
    ])
    expect((await client.benchmarkJobs.cancel({ params: { id } })).state).toBe('cancelled')
  })

  it('ends trials and devboxes and keeps logs when its run is canceled', async () => {
    const { client } = service
    const { id } = await harbor(
      'agents:\n  - name: command\n    kwargs: {command: "seq 100000 >/logs/agent/all; sleep infinity"}\ndatasets:\n  - path: small\n',
    )
    const running = await follow(client, id, ({ in_progress_runs }) => in_progress_runs?.length === 1)
    await expect.poll(runningDevboxes).toBe(2)
    const params = { id: running.in_progress_runs?.[0]?.benchmark_run_id ?? '' }
    const { runs } = await client.benchmarkRuns.scenarioRuns({ params })
    const log = (...path: string[]) => join(service.dataDir, ...path, 'agent', 'all')
    const lines = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').length : 0)
    for (const { devbox_id } of runs)
      await expect.poll(() => lines(log('devboxes', devbox_id, 'root', 'logs'))).toBe(100_001)
    await client.benchmarkRuns.cancel({ params })
    const job = await untilEnded(client, id)
    expect(job.state).toBe('cancelled')
    expect(job.benchmark_outcomes?.[0]?.scenario_outcomes.map(({ state }) => state)).toEqual(['CANCELED', 'CANCELED'])
    await expect.poll(runningDevboxes).toBe(0)
    expect(runs.map((run) => lines(log('runs', run.id)))).toEqual([100_001, 100_001])
  })
})

describe('an invalid job file', () => {
  it('is rejected with every problem at its line and key', async () => {
    const yaml = 'agents:\n  - name: robot\ndatasets:\n  - path: /etc\ntasks:\n  - path: small/nothing\n'
    const error = (await harbor(yaml).catch((error: unknown) => error)) as Error
    expect(error).toMatchObject({ status: 400, field: 'spec.inline_yaml' })
    const lines = error.message.split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[0]).toMatch(/2:5 agents\[0\]\.name: .*robot/)
    expect(lines[1]).toMatch(/4:5 datasets\[0\]\.path: .*\/etc/)
    expect(lines[2]).toMatch(/6:5 tasks\[0\]\.path: .*small\/nothing/)
  })
})
