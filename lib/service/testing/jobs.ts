import { type BenchmarkJob, type BenchmarkJobCreate, hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import type { TestService } from './service.ts'

type Client = TestService['client']

/** Creates scenarios whose score is the number in `~/answer`. Returns their ids. */
export const makeScenarios = async (client: Client, count: number): Promise<string[]> => {
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    const scorer = { type: 'bash_script_scorer' as const, bash_script: 'echo score=$(cat ~/answer)' }
    const { id } = await client.scenarios.create({
      body: {
        name: `scenario ${i}`,
        input_context: { problem_statement: `${i}` },
        scoring_contract: { scoring_function_parameters: [{ name: 'answer', weight: 1, scorer }] },
      },
    })
    ids.push(id)
  }
  return ids
}

export const agent = (name: string, command: string, more: object = {}) => ({
  name,
  type: 'job_agent',
  kwargs: { command },
  ...more,
})

export const createJob = (client: Client, spec: BenchmarkJobCreate['spec']): Promise<BenchmarkJob> =>
  client.benchmarkJobs.create({ body: { spec } })

/** Polls the job until `isReached`, passing every record to `onRecord`. */
export const follow = async (
  client: Client,
  id: string,
  isReached: (job: BenchmarkJob) => boolean,
  onRecord: (job: BenchmarkJob) => void = () => undefined,
): Promise<BenchmarkJob> => {
  for (;;) {
    const job = await client.benchmarkJobs.get({ params: { id } })
    onRecord(job)
    if (isReached(job)) return job
    if (hasJobEnded(job.state)) throw new Error(`The job ended ${job.state}: ${job.failure_reason}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

export const untilEnded = (client: Client, id: string, onRecord?: (job: BenchmarkJob) => void): Promise<BenchmarkJob> =>
  follow(client, id, ({ state }) => hasJobEnded(state), onRecord)

/** Returns a check for successive records of a job: they are consistent and no outcome is lost or changes. */
export const invariantsOf = (scenarioIds: readonly string[], attempts: number): ((job: BenchmarkJob) => void) => {
  const seen = new Map<string, string>()
  const order = ['queued', 'initializing', 'running', 'completed']
  let place = 0
  return (job) => {
    const check = (isTrue: boolean, what: string) => {
      if (!isTrue) throw new Error(`${what}: ${JSON.stringify(job)}`)
    }
    check(order.indexOf(job.state) >= place, 'The state moved backward')
    place = order.indexOf(job.state)
    const outcomes = job.benchmark_outcomes ?? []
    const counted = new Map<string, string>()
    for (const outcome of outcomes) {
      const { n_completed, n_failed, n_timeout, scenario_outcomes } = outcome
      const canceled = scenario_outcomes.filter(({ state }) => state === 'CANCELED').length
      check(n_completed + n_failed + n_timeout + canceled === scenario_outcomes.length, 'The counts do not add up')
      const scores = scenario_outcomes.flatMap(({ state, score }) =>
        state === 'COMPLETED' ? [score ?? Number.NaN] : [],
      )
      check(scores.length === n_completed, 'n_completed is not the number of completed scenarios')
      const average = scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length
      check((outcome.average_score ?? null) === average, 'average_score is not the mean of the completed scenarios')
      const perScenario = new Map<string, number>()
      for (const each of scenario_outcomes) {
        const times = (perScenario.get(each.scenario_definition_id) ?? 0) + 1
        perScenario.set(each.scenario_definition_id, times)
        check(scenarioIds.includes(each.scenario_definition_id), 'The scenario is not part of the job')
        check(times <= attempts, 'A scenario is counted too often')
        check((each.score != null) === (each.state === 'COMPLETED'), 'Exactly the completed outcomes must have a score')
        counted.set(`${outcome.benchmark_run_id} ${each.scenario_run_id}`, JSON.stringify(each))
      }
    }
    for (const [key, text] of seen) check(counted.get(key) === text, 'An outcome was lost or changed')
    for (const [key, text] of counted) seen.set(key, text)
    const running = (job.in_progress_runs ?? []).map(({ benchmark_run_id }) => benchmark_run_id)
    check(new Set(running).size === running.length, 'A run is in progress twice')
    if (job.state === 'completed') {
      check(running.length === 0, 'The job has ended but a run has not')
      const expected = scenarioIds.length * attempts
      check(
        outcomes.every(({ scenario_outcomes }) => scenario_outcomes.length === expected),
        'Outcomes are missing',
      )
    }
  }
}
