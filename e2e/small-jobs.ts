import { hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { expect, type Product } from './product.ts'

/** Scenarios that ask for their index and score what the agent writes to `~/answer`. */
export const makeScenarios = async (
  { service }: Pick<Product, 'service'>,
  names: readonly string[],
): Promise<string[]> => {
  const ids: string[] = []
  for (const [number, name] of names.entries()) {
    const scorer = { type: 'bash_script_scorer' as const, bash_script: 'echo score=$(cat ~/answer)' }
    const { id } = await service.scenarios.create({
      body: {
        name,
        input_context: { problem_statement: `${number}` },
        scoring_contract: { scoring_function_parameters: [{ name: 'answer', weight: 1, scorer }] },
      },
    })
    ids.push(id)
  }
  return ids
}

/** A job with one agent that runs a command for each scenario. */
export const startJob = async (
  { service }: Pick<Product, 'service'>,
  name: string,
  scenario_ids: string[],
  command: string,
) => {
  const { id } = await service.benchmarkJobs.create({
    body: {
      name,
      spec: {
        type: 'scenarios',
        scenario_ids,
        agent_configs: [{ name: 'solver', type: 'job_agent', kwargs: { command } }],
        orchestrator_config: { n_concurrent_trials: 4 },
      },
    },
  })
  return { id, read: () => service.benchmarkJobs.get({ params: { id } }) }
}

/** A completed job whose agent answers the i-th scenario with the i-th score. */
export const finishedJob = async (
  product: Product,
  name: string,
  scenarioIds: string[],
  scores: readonly number[],
): Promise<string> => {
  const cases = scores.map((score, i) => `${i}) echo ${score} > ~/answer ;;`).join(' ')
  const { id, read } = await startJob(
    product,
    name,
    scenarioIds,
    `case $(<"$HARBOR_INSTRUCTION_FILE") in ${cases} esac`,
  )
  await expect.poll(async () => hasJobEnded((await read()).state)).toBe(true)
  return id
}
