import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { BenchmarkJob, ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import { strongestIsolation } from '#lib/service/testing/isolation.ts'
import { createJob, untilEnded } from '#lib/service/testing/jobs.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { readZip } from '#lib/service/testing/zip.ts'

const samples = join(import.meta.dirname, '../../../samples')
const jobFile = (name: string) => readFileSync(join(samples, 'jobs', `${name}.yaml`), 'utf8')
const tasks = readdirSync(join(samples, 'tasks')).sort()

/** A score, a state with its exception, or a score with an exception. */
type Expected = number | string | [score: number, exception: string]
const gaveUp: Expected = [0, 'NonZeroAgentExitCodeError']

const broken = {
  'broken-build': 'FAILED SandboxBuildFailedError',
  'no-reward': 'FAILED RewardFileNotFoundError',
  'slow-verifier': 'TIMEOUT VerifierTimeoutError',
}
const solvable = tasks.filter((task) => !(task in broken))
const all = (expected: Expected) => Object.fromEntries(solvable.map((task) => [task, expected]))

const table: Record<string, Record<string, Expected>> = {
  oracle: { ...all(1), ...broken },
  careful: { ...all(1), ...broken, 'decode-message': 0 },
  hasty: {
    ...all(0),
    ...broken,
    'access-report': 0.5,
    'fix-script': 0.5,
    fizzbuzz: 0.75,
    'hello-file': 1,
    'slow-answer': 'TIMEOUT AgentTimeoutError',
    'sort-names': 1,
  },
  lazy: { ...all(gaveUp), ...broken, 'hello-file': 1 },
}

const resultOf = ({ state, score, failure_reason }: ScenarioOutcome): Expected => {
  const exception = failure_reason?.exception_type
  if (state !== 'COMPLETED') return `${state} ${exception}`
  return exception === undefined ? (score ?? -1) : [score ?? -1, exception]
}

const check = (job: BenchmarkJob, agent: string) => {
  const outcome = job.benchmark_outcomes?.find(({ agent_name, model_name }) => (model_name ?? agent_name) === agent)
  const outcomes = outcome?.scenario_outcomes ?? []
  const results = Object.fromEntries(outcomes.map((each) => [each.scenario_name, resultOf(each)]))
  expect(results, agent).toEqual(table[agent])
  return outcome
}

describe('the sample job files', () => {
  it('contain the agents in samples/agents', () => {
    const { agents } = parse(jobFile('demo')) as { agents: { model_name: string; kwargs: { command: string } }[] }
    expect(agents.map(({ model_name }) => model_name)).toEqual(['careful', 'hasty', 'lazy'])
    for (const { model_name, kwargs } of agents)
      expect(kwargs.command).toBe(readFileSync(join(samples, 'agents', `${model_name}.sh`), 'utf8'))
  })
})

describe.runIf(strongestIsolation === 'bubblewrap')('the sample tasks', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService({ isolation: 'bubblewrap', datasets: [samples] })
  })
  afterAll(() => service.close())
  const run = async (name: string) => {
    // One attempt is enough here.
    const inline_yaml = jobFile(name).replace('n_attempts: 2', 'n_attempts: 1')
    const { id } = await createJob(service.client, { type: 'harbor', inline_yaml })
    return untilEnded(service.client, id)
  }

  it('score as expected with their solutions', async () => {
    const job = await run('oracle')
    expect(job.state).toBe('completed')
    check(job, 'oracle')
  })

  it('score as expected with the sample agents', async () => {
    const job = await run('demo')
    expect(job.state).toBe('completed')
    for (const agent of ['careful', 'hasty', 'lazy']) check(job, agent)
    const run_id = check(job, 'careful')?.benchmark_run_id
    const response = await service.fetch(`/v1/benchmark_runs/${run_id}/download_logs`, { method: 'POST' })
    const entries = readZip(Buffer.from(await response.arrayBuffer())).map(({ name }) => name)
    expect(entries.slice(0, 2)).toEqual(['results.json', 'job.yaml'])
    for (const task of solvable)
      expect(entries.filter((name) => name.startsWith(`${task}__1/`) && name.includes('verifier/'))).not.toEqual([])
  })

  it('fail a job if none can be built', async () => {
    const job = await run('broken')
    expect(job.state).toBe('failed')
    expect(job.failure_reason).toMatch(/SandboxBuildFailedError/)
  })
})
