import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { outcomeOf as judgedOutcome, type Outcome } from '../outcome.ts'
import { earliest, type ForeignJob, type ForeignTrial, latest, NoJobError } from './foreign-job.ts'
import { readHarborTrial } from './harbor-trial.ts'
import { logsBelow } from './job-folders.ts'
import { OptionalCount, OptionalText, optional, readJson } from './json-file.ts'

const Results = z.object({
  benchmark_run_id: z.string(),
  name: OptionalText,
  agent_name: OptionalText,
  model_name: OptionalText,
  judged_metric: OptionalText,
  n_total_trials: OptionalCount,
  settings: optional(z.record(z.string(), z.unknown())),
  state: OptionalText,
  scenario_runs: z.array(
    z.object({
      scenario_run_id: z.string(),
      scenario_id: z.string(),
      scenario_name: z.string(),
      attempt: optional(z.int().check(z.minimum(1))),
      replaced: optional(z.boolean()),
      state: z.string(),
      score: optional(z.number()),
      rewards: optional(z.record(z.string(), z.number())),
      scoring_functions: optional(
        z.array(z.object({ name: z.string(), score: z.number(), state: z.string(), output: z.string() })),
      ),
      start_time_ms: optional(z.int()),
      duration_ms: optional(z.number().check(z.minimum(0))),
      failure_reason: optional(z.object({ exception_type: z.string(), exception_message: z.string() })),
    }),
  ),
})
type ScenarioRun = z.output<typeof Results>['scenario_runs'][number]

const resultsIn = async (folder: string): Promise<z.output<typeof Results> | undefined> => {
  const read = await readJson(join(folder, 'results.json'))
  return 'value' in read ? Results.safeParse(read.value).data : undefined
}

export const isOwnExport = async (folder: string): Promise<boolean> => (await resultsIn(folder)) !== undefined

export const readOwnExport = async (folder: string): Promise<ForeignJob> => {
  const results = await resultsIn(folder)
  if (!results) throw new NoJobError('results.json is not an exported run')
  const { benchmark_run_id, name, agent_name, model_name, scenario_runs } = results
  const counted = scenario_runs.filter(({ replaced, state }) => !replaced && !activeStates.includes(state))
  if (counted.length === 0) throw new NoJobError('The archived run has no scenario runs that have ended')
  const agent = { name: agent_name ?? name, type: 'job_agent' as const, model_name }
  const folders = await runFolders(folder, counted)
  const trials: ForeignTrial[] = []
  const warnings: ForeignJob['warnings'] = []
  for (const run of counted) {
    const own = folders.get(run.scenario_run_id)
    if (!own) warnings.push({ sentence: 'its log files are not in the archive', tasks: [run.scenario_name] })
    const logs = own ? (await logsBelow(own)).files.map((file) => withoutId(file, run.scenario_run_id)) : []
    const record = own === undefined ? undefined : await recordOf(own, run.scenario_run_id)
    const { duration_ms } = run
    const startedMs = run.start_time_ms ?? record?.startedMs ?? null
    const rewards = run.rewards ?? record?.rewards ?? null
    const outcome = outcomeOf(run)
    trials.push({
      name: run.scenario_run_id,
      agent,
      task: { name: run.scenario_name, source: null, checksum: null, scenarioId: run.scenario_id },
      ...(run.attempt !== null && { attempt: run.attempt - 1 }),
      startedMs,
      endedMs: startedMs !== null && duration_ms !== null ? startedMs + duration_ms : null,
      rewards,
      scorers: rewards === null ? scorersOf(run) : null,
      judge: (metric) => (rewards ? judgedOutcome(rewards, run.failure_reason, metric) : outcome),
      warnings: record?.warnings ?? [],
      environmentDiffers: record?.environmentDiffers ?? false,
      engine: record?.engine ?? null,
      record: record?.record ?? null,
      logs,
    })
  }
  return {
    identity: benchmark_run_id,
    name: name ?? benchmark_run_id,
    startedMs: earliest(trials.map((trial) => trial.startedMs)),
    endedMs: latest(trials.map((trial) => trial.endedMs)),
    hasEnded: results.state !== 'running',
    expectedTrials: results.n_total_trials,
    judgedMetric: results.judged_metric,
    settings: results.settings,
    trials,
    warnings,
  }
}

const activeStates = ['running', 'scoring', 'scored']

const scorersOf = ({ scoring_functions }: ScenarioRun): ForeignTrial['scorers'] =>
  scoring_functions?.map(({ name, ...result }) => ({ scoring_function_name: name, ...result })) ?? []

const outcomeOf = ({ state, score, failure_reason }: ScenarioRun): Outcome => {
  const outcome = state.toUpperCase()
  if (outcome === 'COMPLETED') return { state: 'COMPLETED', score: score ?? 0, failure_reason }
  const ended = outcome === 'TIMEOUT' || outcome === 'CANCELED' ? outcome : 'FAILED'
  return { state: ended, score: null, failure_reason }
}

const runFolders = async (folder: string, runs: readonly ScenarioRun[]): Promise<Map<string, string>> => {
  const ids = new Set(runs.map(({ scenario_run_id }) => scenario_run_id))
  const found = new Map<string, string>()
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue
    const [first = ''] = await readdir(join(folder, entry.name))
    const id = /^scr_[a-z0-9]+(?=_)/.exec(first)?.[0]
    if (id && ids.has(id)) found.set(id, join(folder, entry.name))
  }
  return found
}

const withoutId = ({ from, path }: ForeignTrial['logs'][number], id: string) => ({
  from,
  path: path.map((part, at) => (at === 0 ? part.slice(id.length + 1) : part)),
})

const recordOf = async (folder: string, id: string) => {
  const read = await readHarborTrial(folder, id, { prefix: `${id}_` })
  return 'trial' in read ? read.trial : undefined
}
