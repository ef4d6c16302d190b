import { isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml'
import { formatCountOf } from '#lib/browser/format.ts'
import type { BenchmarkJob, BenchmarkJobSpec } from '#lib/contract/benchmark-jobs.ts'
import type { ScenarioRow } from '../grid/scenario-grid.ts'
import type { AgentRow, JobProgress } from '../job-figures.ts'

export type RunAgain = { spec: BenchmarkJobSpec } | { refusal: string }

export const cloneOf = ({ job_source, job_spec }: BenchmarkJob): RunAgain => {
  if (job_source?.type === 'harbor' && job_source.inline_yaml != null)
    return { spec: { type: 'harbor', inline_yaml: job_source.inline_yaml } }
  if (!job_source || !job_spec) return { refusal: 'The service does not report the source of the job' }
  const { agent_configs, orchestrator_config, scenario_ids } = job_spec
  if (job_source.type === 'benchmark' && job_source.benchmark_id != null)
    return { spec: { type: 'benchmark', benchmark_id: job_source.benchmark_id, agent_configs, orchestrator_config } }
  if (job_source.type === 'scenarios')
    return { spec: { type: 'scenarios', scenario_ids, agent_configs, orchestrator_config } }
  return { refusal: `Jobs of type ${job_source.type} can't be created here` }
}

/** Finished attempts without a score. */
export interface Unscored {
  scenarios: readonly ScenarioRow[]
  agents: readonly AgentRow[]
  attempts: number
}

export const unscoredOf = (rows: readonly ScenarioRow[], agents: readonly AgentRow[]): Unscored => {
  const hasNoScore = ({ score }: { score?: number | null | undefined }) => score == null
  const attempts = rows.flatMap(({ cells }) => cells.flatMap((cell) => cell.attempts)).filter(hasNoScore)
  return {
    scenarios: rows.filter(({ cells }) => cells.some((cell) => cell.attempts.some(hasNoScore))),
    agents: agents.filter((_, at) => rows.some(({ cells }) => cells[at]?.attempts.some(hasNoScore))),
    attempts: attempts.length,
  }
}

export const rerunOf = (job: BenchmarkJob, unscored: Unscored): RunAgain => {
  const { job_source, job_spec } = job
  if (unscored.attempts === 0) return { refusal: 'Every finished attempt has a score' }
  const whole = cloneOf(job)
  if ('refusal' in whole) return whole
  if (whole.spec.type === 'harbor') {
    const narrowed = narrowToTasks(
      job_source?.inline_yaml ?? '',
      unscored.scenarios.map(({ name }) => name),
    )
    return 'refusal' in narrowed ? narrowed : { spec: { type: 'harbor', inline_yaml: narrowed.yaml } }
  }
  const isIncluded = ({ name, model_name = null }: { name: string; model_name?: string | null | undefined }) =>
    unscored.agents.some((agent) => agent.name === name && agent.model === model_name)
  return {
    spec: {
      type: 'scenarios',
      scenario_ids: unscored.scenarios.map(({ id }) => id),
      agent_configs: (job_spec?.agent_configs ?? []).filter(isIncluded),
      orchestrator_config: job_spec?.orchestrator_config,
    },
  }
}

export const neverStartedText = ({ finished, total }: JobProgress): string => {
  const left = (total ?? finished) - finished
  return left > 0 ? ` ${formatCountOf(left, 'trial')} never started; to run them too, clone the job.` : ''
}

/** Escapes fnmatch patterns. */
const exactly = (name: string) => name.replace(/[*?[]/g, '[$&]')

const baseName = (path: unknown) => (typeof path === 'string' ? path.replace(/\/+$/, '').split('/').at(-1) : undefined)

/** Narrows a Harbor job file to these tasks, keeping its comments. Fails with several data sets, as names don't say which. */
export const narrowToTasks = (yaml: string, tasks: readonly string[]): { yaml: string } | { refusal: string } => {
  const file = parseDocument(yaml)
  const [datasets, single] = [file.get('datasets'), file.get('tasks')]
  if (file.errors.length > 0) return { refusal: 'The job file is not valid YAML' }
  const sets = isSeq(datasets) ? (datasets as YAMLSeq<YAMLMap>) : null
  const paths = isSeq(single) ? (single as YAMLSeq<YAMLMap>) : null
  const [first] = sets?.items ?? []
  if (sets && sets.items.length === 1 && isMap(first) && !paths) {
    first.set('task_names', tasks.map(exactly))
    first.delete('n_tasks')
    return { yaml: file.toString() }
  }
  if (paths && !sets) {
    const kept = paths.items.filter((item) => isMap(item) && tasks.includes(baseName(item.get('path')) ?? ''))
    if (kept.length === tasks.length) {
      paths.items = kept
      return { yaml: file.toString() }
    }
  }
  return {
    refusal: 'The job file has several task sources. Clone the job and list the tasks yourself.',
  }
}
