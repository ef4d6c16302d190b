import type { AgentConfig, BenchmarkJob, BenchmarkOutcome, InProgressRun } from '#lib/contract/benchmark-jobs.ts'
import { type AgentSettings, agentSettings, withDifferences } from './agent-settings.ts'
import { identifiedOutcomes } from './outcome-ids.ts'

export interface JobAgent {
  key: string
  runId: string | null
  place: number | null
  name: string
  model: string | null
  /** Settings in which it differs from agents of the same name and model, such as `temperature=0.2`. */
  differs?: string
  outcome: BenchmarkOutcome | null
  run: InProgressRun | null
}

/** Agents with a run, finished ones first, with name and model from the specification. */
export const agentsWithRuns = (job: BenchmarkJob): JobAgent[] => {
  const specified = job.job_spec?.agent_configs ?? []
  const running = new Map((job.in_progress_runs ?? []).map((run) => [run.benchmark_run_id, run]))
  const finished = identifiedOutcomes(job).map((outcome, at) => {
    const run = running.get(outcome.benchmark_run_id) ?? null
    running.delete(outcome.benchmark_run_id)
    const runId = job.benchmark_outcomes?.[at]?.benchmark_run_id || null
    return { ...named(outcome.agent_name, outcome.model_name), key: outcome.benchmark_run_id, runId, outcome, run }
  })
  const active = [...running.values()].map((run) => {
    const { name, model_name, info } = run.agent_config ?? {}
    return {
      ...named(name, model_name, info),
      key: run.benchmark_run_id,
      runId: run.benchmark_run_id,
      outcome: null,
      run,
    }
  })
  const rows: (Named & Pick<JobAgent, 'key' | 'runId' | 'outcome' | 'run'>)[] = [...finished, ...active]
  const places = placesOf(rows, specified)
  const agents = rows.map(({ name, model, info, ...row }, at): JobAgent => {
    const place = places[at] ?? null
    const agent = place === null ? undefined : specified[place]
    return { ...row, place, name: name ?? agent?.name ?? info ?? '', model: model ?? agent?.model_name ?? null }
  })
  return withDifferences(attachRuns(agents), (agent) => settingsIn(job, agent))
}

/** Undefined without an outcome: until all are listed, which of them belongs to which configuration is a guess. */
export const settingsIn = ({ job_spec }: BenchmarkJob, { place, outcome }: JobAgent): AgentSettings | undefined => {
  const config = place === null ? undefined : job_spec?.agent_configs[place]
  return config && outcome ? agentSettings(config, outcome) : undefined
}

const attachRuns = (agents: readonly JobAgent[]): JobAgent[] => {
  const left = agents.filter(({ outcome, place }) => outcome === null && place === null)
  const found = new Map<JobAgent, JobAgent>()
  for (const run of left) {
    const own = agents.find(
      (each) => each.outcome && !each.runId && !each.run && !found.has(each) && (!run.name || run.name === each.name),
    )
    if (own) found.set(own, run)
  }
  const taken = new Set(found.values())
  return agents.flatMap((agent) => {
    const own = found.get(agent)
    return taken.has(agent) ? [] : [own ? { ...agent, run: own.run, runId: own.runId } : agent]
  })
}

interface Named {
  name: string | null
  model: string | null
  info: string | null
}

const named = (...values: (string | null | undefined)[]): Named => {
  const [name = null, model = null, info = null] = values.map((value) => (value?.trim() ? value : null))
  return { name, model, info }
}

/**
 * Maps each run to an agent of the specification, which may list an agent several times. Unspecified: a run without model or
 * agent takes the closest one left: same name and model, same name, mentioned in its info, then the next in order.
 */
const placesOf = (rows: readonly Named[], specified: readonly AgentConfig[]): (number | null)[] => {
  const places = rows.map((): number | null => null)
  const left = new Set(specified.keys())
  const take = (isMatch: (agent: AgentConfig, row: Named) => boolean) => {
    for (const [at, row] of rows.entries()) {
      if (places[at] !== null) continue
      const place = [...left].find((each) => isMatch(specified[each] as AgentConfig, row))
      if (place === undefined) continue
      places[at] = place
      left.delete(place)
    }
  }
  const isSameName = (agent: AgentConfig, row: Named) => agent.name === row.name
  take((agent, row) => isSameName(agent, row) && (agent.model_name ?? null) === row.model)
  take((agent, row) => isSameName(agent, row) && isModelLike(agent.model_name, row.model))
  take((agent, { name, info }) => name === null && mentions(info, agent.name) && mentions(info, agent.model_name))
  take((agent, { name, info }) => name === null && mentions(info, agent.name))
  take((_, { name }) => name === null)
  return places
}

/** Either may be missing or lack its provider prefix. */
const isModelLike = (a: string | null | undefined, b: string | null): boolean =>
  !a || !b || a.split('/').at(-1) === b.split('/').at(-1)

const mentions = (info: string | null, name: string | null | undefined): boolean =>
  Boolean(name && info?.toLowerCase().includes(name.toLowerCase()))
