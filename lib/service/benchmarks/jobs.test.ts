import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { strongestIsolation } from '#lib/service/testing/isolation.ts'
import { agent, createJob, follow, invariantsOf, makeScenarios, untilEnded } from '#lib/service/testing/jobs.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

let service: TestService
beforeEach(async () => {
  service = await startService({ isolation: strongestIsolation })
})
afterEach(() => service.close())

const finished = ({ benchmark_outcomes }: BenchmarkJob) =>
  (benchmark_outcomes ?? []).reduce((sum, { scenario_outcomes }) => sum + scenario_outcomes.length, 0)
const devboxesAlive = async () => {
  const { devboxes } = await service.client.devboxes.list({ query: { limit: 5000 } })
  return devboxes.filter(({ status }) => !['shutdown', 'failure'].includes(status))
}
const scenarioRunsOf = async (id: string) =>
  (await service.client.benchmarkRuns.scenarioRuns({ params: { id }, query: { limit: 5000 } })).runs

describe('a job of scenarios', () => {
  it('scores every agent', async () => {
    const { client } = service
    const scenario_ids = await makeScenarios(client, 3)
    const steady = agent('steady', 'echo 1 > ~/answer')
    const uneven = agent(
      'uneven',
      `case $(<"$HARBOR_INSTRUCTION_FILE") in
        0) echo 0.25 > ~/answer ;;
        1) echo 0.5 > ~/answer; echo 'could not finish' >&2; exit 3 ;;
        *) [[ $HARBOR_INSTRUCTION = 2 && $HARBOR_MODEL_NAME = m/1 && $GREETING = hello ]] && echo 1 > ~/answer ;;
      esac`,
      { model_name: 'm/1', agent_environment: { environment_variables: { GREETING: 'hello' } } },
    )
    const stuck = agent('stuck', 'echo 1 > ~/answer; sleep infinity', { timeout_seconds: 1 })
    const queued = await createJob(client, {
      type: 'scenarios',
      scenario_ids,
      agent_configs: [steady, uneven, stuck],
      orchestrator_config: { n_concurrent_trials: 3 },
    })
    expect(queued).toMatchObject({ state: 'queued', benchmark_outcomes: [], in_progress_runs: [] })
    const job = await untilEnded(client, queued.id)
    expect(job).toMatchObject({ state: 'completed', failure_reason: null, in_progress_runs: [] })
    expect(job.job_source).toEqual({ type: 'scenarios', scenario_ids })
    expect(job.job_spec?.scenario_ids).toEqual(scenario_ids)
    const [first, second, third] = job.benchmark_outcomes ?? []
    expect(first).toMatchObject({ agent_name: 'steady', n_completed: 3, n_failed: 0, n_timeout: 0, average_score: 1 })
    expect(second).toMatchObject({ agent_name: 'uneven', model_name: 'm/1', n_completed: 3, n_failed: 0, n_timeout: 0 })
    expect(third).toMatchObject({ agent_name: 'stuck', n_completed: 0, n_timeout: 3, average_score: null })
    expect(second?.average_score).toBeCloseTo((0.25 + 0.5 + 1) / 3, 12)
    expect(second?.scenario_outcomes.find((each) => each.scenario_definition_id === scenario_ids[1])).toMatchObject({
      state: 'COMPLETED',
      score: 0.5,
      failure_reason: {
        exception_type: 'NonZeroAgentExitCodeError',
        exception_message: "The agent's command failed with exit code 3: could not finish",
      },
    })
    for (const outcome of third?.scenario_outcomes ?? []) {
      expect(outcome).toMatchObject({
        state: 'TIMEOUT',
        score: null,
        failure_reason: {
          exception_type: 'AgentTimeoutError',
          exception_message: 'Agent execution timed out after 1.0 seconds',
        },
      })
      expect(outcome.duration_ms).toBeGreaterThanOrEqual(1000)
    }
    const runs = await Promise.all(
      [first, second, third].map((outcome) =>
        client.benchmarkRuns.get({ params: { id: outcome?.benchmark_run_id ?? '' } }),
      ),
    )
    expect(runs[0]).toMatchObject({ state: 'completed', score: 1 })
    expect(runs[1]).toMatchObject({ n_scenario_runs: 3, job_id: job.id, agent_name: 'uneven', model_name: 'm/1' })
    expect(runs[1]?.score).toBeCloseTo((0.25 + 0.5 + 1) / 3, 12)
    // The run's score counts all scenario runs, the outcome's average only completed ones.
    expect(runs[2]?.score).toBe(0)
    expect(runs[1]?.environment_variables).toEqual({ GREETING: 'hello' })
    await expect.poll(devboxesAlive).toEqual([])
  })

  it('has an ETag that changes with its trials, and responds 304 until then', async () => {
    const scenario_ids = await makeScenarios(service.client, 1)
    const agent_configs = [agent('A', 'echo 1 > ~/answer')]
    const { id } = await createJob(service.client, { type: 'scenarios', scenario_ids, agent_configs })
    const path = `/v1/benchmark_jobs/${id}`
    const early = (await service.fetch(path)).headers.get('etag') ?? ''
    await untilEnded(service.client, id)
    const ended = await service.fetch(path, { headers: { 'if-none-match': early } })
    const etag = ended.headers.get('etag') ?? ''
    expect([ended.status, etag !== early]).toEqual([200, true])
    const again = await service.fetch(path, { headers: { 'if-none-match': etag } })
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
    const asOther = { authorization: `Bearer ${service.otherKey}`, 'if-none-match': etag }
    expect((await service.fetch(path, { headers: asOther })).status).toBe(404)
  })

  it('retries failed trials n_attempts times, and counts only the last run', async () => {
    const { client } = service
    const scenario_ids = await makeScenarios(client, 1)
    const job = await createJob(client, {
      type: 'scenarios',
      scenario_ids,
      agent_configs: [agent('slow', 'sleep infinity', { timeout_seconds: 0.2 })],
      orchestrator_config: { n_attempts: 2, timeout_multiplier: 2 },
    })
    const { benchmark_outcomes } = await untilEnded(client, job.id)
    const [outcome] = benchmark_outcomes ?? []
    expect(outcome).toMatchObject({ n_completed: 0, n_timeout: 1, average_score: null })
    expect(outcome?.scenario_outcomes).toHaveLength(1)
    // 0.2 s, doubled per retry.
    expect(outcome?.scenario_outcomes[0]?.failure_reason?.exception_message).toMatch(/after 0.8 seconds/)
    const runs = await scenarioRunsOf(outcome?.benchmark_run_id ?? '')
    expect(runs.map(({ id, n_retries }) => [id, n_retries])).toEqual([
      [outcome?.scenario_outcomes[0]?.scenario_run_id, 2],
    ])
  })

  it('runs a benchmark and passes a secret that is not recorded', async () => {
    const { client } = service
    const scenarioIds = await makeScenarios(client, 2)
    const benchmark = await client.benchmarks.create({ body: { name: 'two', scenario_ids: scenarioIds } })
    await client.secrets.create({ body: { name: 'TOKEN', value: 'sesame' } })
    const job = await createJob(client, {
      type: 'benchmark',
      benchmark_id: benchmark.id,
      agent_configs: [
        agent('opener', '[[ $PASS = "ses"ame ]] && echo 1 > ~/answer; echo "$PASS" >&2; exit 4', {
          agent_environment: { secrets: { PASS: 'TOKEN' } },
        }),
        { name: 'nop', type: 'job_agent' },
      ],
    })
    const ended = await untilEnded(client, job.id)
    expect(ended.job_source).toEqual({ type: 'benchmark', benchmark_id: benchmark.id, benchmark_name: 'two' })
    expect(ended.benchmark_outcomes?.map(({ average_score }) => average_score)).toEqual([1, 0])
    expect(ended.benchmark_outcomes?.[0]?.scenario_outcomes[0]?.failure_reason?.exception_message).toMatch(
      /exit code 4/,
    )
    expect(JSON.stringify(ended)).not.toContain('sesame')
    const { runs } = await client.benchmarkRuns.list({ query: { benchmark_id: benchmark.id } })
    expect(runs).toHaveLength(2)
  })

  it('fails if no trial could be set up', async () => {
    const { client } = service
    const { id } = await client.scenarios.create({
      body: {
        name: 'broken',
        input_context: { problem_statement: '' },
        environment_parameters: { launch_parameters: { launch_commands: ['exit 7'] } },
        scoring_contract: {
          scoring_function_parameters: [{ name: 's', weight: 1, scorer: { type: 'command_scorer', command: 'true' } }],
        },
      },
    })
    const { id: jobId } = await createJob(client, {
      type: 'scenarios',
      scenario_ids: [id],
      agent_configs: [{ name: 'nop', type: 'job_agent' }],
    })
    const job = await untilEnded(client, jobId)
    expect(job.state).toBe('failed')
    expect(job.failure_reason).toMatch(/No trial could be set up.*SandboxBuildFailedError/)
    expect(job.benchmark_outcomes?.[0]).toMatchObject({ n_completed: 0, n_failed: 1, average_score: null })
  })

  it.each([
    ['devboxes', { devboxes: 1, executions: 8 }],
    ['commands', { devboxes: 8, executions: 1 }],
  ])('waits for %s at the account limit', async (_, limits) => {
    const small = await startService({
      isolation: strongestIsolation,
      limits: { ...limits, terminals: 1 },
    })
    try {
      const { client } = small
      const scenario_ids = await makeScenarios(client, 4)
      const { id } = await createJob(client, {
        type: 'scenarios',
        scenario_ids,
        agent_configs: [agent('a', 'echo 1 > ~/answer')],
        orchestrator_config: { n_concurrent_trials: 4 },
      })
      const job = await untilEnded(client, id)
      expect(job.benchmark_outcomes?.[0]).toMatchObject({ n_completed: 4, n_failed: 0, average_score: 1 })
    } finally {
      await small.close()
    }
  })
})

describe('the record of a running job', () => {
  it('is always consistent, even across a restart', async () => {
    const { client } = service
    const scenario_ids = await makeScenarios(client, 8)
    const created = await createJob(client, {
      type: 'scenarios',
      scenario_ids,
      agent_configs: [
        agent('good', 'sleep 0.05; echo 1 > ~/answer'),
        agent('half', 'echo 0.5 > ~/answer'),
        agent('slow', 'sleep infinity', { timeout_seconds: 0.1 }),
      ],
      orchestrator_config: { n_concurrent_trials: 4 },
    })
    const check = invariantsOf(scenario_ids, 1)
    await follow(client, created.id, (job) => finished(job) >= 6, check)
    await service.restart()
    const job = await untilEnded(client, created.id, check)
    expect(job.state).toBe('completed')
    expect(job.benchmark_outcomes).toMatchObject([
      { n_completed: 8, n_timeout: 0, average_score: 1 },
      { n_completed: 8, n_timeout: 0, average_score: 0.5 },
      { n_completed: 0, n_timeout: 8, average_score: null },
    ])
    for (const { benchmark_run_id } of job.benchmark_outcomes ?? []) {
      const runs = await scenarioRunsOf(benchmark_run_id)
      expect(new Set(runs.map(({ scenario_id }) => scenario_id)).size).toBe(8)
      expect(runs).toHaveLength(8)
    }
    await expect.poll(devboxesAlive).toEqual([])
    await service.restart()
    expect(await client.benchmarkJobs.get({ params: { id: created.id } })).toEqual(job)
  })

  it('keeps the score of a canceled run, and continues with the others', async () => {
    const { client } = service
    const scenario_ids = await makeScenarios(client, 6)
    const created = await createJob(client, {
      type: 'scenarios',
      scenario_ids,
      agent_configs: [
        agent('stuck', '[[ $HARBOR_INSTRUCTION -lt 2 ]] && echo 0.5 > ~/answer || sleep infinity'),
        agent('good', 'echo 1 > ~/answer'),
      ],
      orchestrator_config: { n_concurrent_trials: 4 },
    })
    const isStuck = ({ benchmark_outcomes = [] }: BenchmarkJob) =>
      (benchmark_outcomes?.[0]?.n_completed ?? 0) === 2 && (benchmark_outcomes?.[1]?.n_completed ?? 0) >= 2
    const before = await follow(client, created.id, isStuck)
    const runId = before.benchmark_outcomes?.[0]?.benchmark_run_id ?? ''
    const canceled = await client.benchmarkRuns.cancel({ params: { id: runId } })
    expect(canceled.state).toBe('canceled')
    const runs = await scenarioRunsOf(runId)
    const sum = runs.reduce((total, { scoring_contract_result }) => total + (scoring_contract_result?.score ?? 0), 0)
    expect(sum).toBe(1)
    expect(canceled.score).toBeCloseTo(sum / runs.length, 12)
    const job = await untilEnded(client, created.id)
    expect(job.state).toBe('completed')
    const [stuck, good] = job.benchmark_outcomes ?? []
    expect(good).toMatchObject({ n_completed: 6, average_score: 1 })
    expect(stuck).toMatchObject({ n_completed: 2, n_failed: 0, n_timeout: 0, average_score: 0.5 })
    const states = stuck?.scenario_outcomes.map(({ state }) => state)
    expect(states?.filter((state) => state === 'CANCELED')).toHaveLength(runs.length - 2)
    expect(await scenarioRunsOf(runId)).toHaveLength(runs.length)
    expect(await client.benchmarkRuns.get({ params: { id: runId } })).toMatchObject({ score: canceled.score })
    await expect.poll(devboxesAlive).toEqual([])
  })

  it('is canceled once its runs are canceled and its devboxes are shut down', async () => {
    const { client } = service
    const scenario_ids = await makeScenarios(client, 5)
    const created = await createJob(client, {
      type: 'scenarios',
      scenario_ids,
      agent_configs: [agent('one', 'sleep infinity'), agent('two', 'sleep infinity')],
      orchestrator_config: { n_concurrent_trials: 4 },
    })
    const job = await follow(client, created.id, ({ in_progress_runs }) => in_progress_runs?.length === 2)
    await expect.poll(async () => (await devboxesAlive()).length).toBe(4)
    await Promise.all(
      (job.in_progress_runs ?? []).map(({ benchmark_run_id: id }) => client.benchmarkRuns.cancel({ params: { id } })),
    )
    const ended = await untilEnded(client, created.id)
    expect(ended).toMatchObject({ state: 'cancelled', failure_reason: null })
    await expect.poll(devboxesAlive).toEqual([])
    const nothing = { n_completed: 0, average_score: null }
    expect(ended.benchmark_outcomes).toMatchObject([nothing, nothing])
  })
})
