import { type BenchmarkJob, type BenchmarkJobCreate, hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import type { TestService } from '#lib/service/testing.ts'

type Client = TestService['client']

/** Scenarios that score the number in the file `answer` of the home directory, one after the other: an id each. */
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

/** The job once `isReached` says so; `look` sees every record on the way. */
export const follow = async (
  client: Client,
  id: string,
  isReached: (job: BenchmarkJob) => boolean,
  look: (job: BenchmarkJob) => void = () => undefined,
): Promise<BenchmarkJob> => {
  for (;;) {
    const job = await client.benchmarkJobs.get({ params: { id } })
    look(job)
    if (isReached(job)) return job
    if (hasJobEnded(job.state)) throw new Error(`The job ended ${job.state}: ${job.failure_reason}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

export const untilEnded = (client: Client, id: string, look?: (job: BenchmarkJob) => void): Promise<BenchmarkJob> =>
  follow(client, id, ({ state }) => hasJobEnded(state), look)
