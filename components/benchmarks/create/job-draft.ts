import { type KeyValueRow, rowsToMap } from '#components/ui/key-values.ts'
import { BenchmarkJobCreate } from '#lib/contract/benchmark-jobs.ts'
import { fieldProblems } from '#lib/contract/query-string.ts'

export interface AgentDraft {
  /** What tells it from the others while it is edited. */
  key: number
  name: string
  model: string
  command: string
  timeout: string
  variables: readonly KeyValueRow[]
  /** Variable to the name of a secret. */
  secrets: readonly KeyValueRow[]
}

/** A benchmark or a scenario that was chosen. */
export interface Chosen {
  id: string
  name: string
}

/** What was typed of a job, whatever its source is; choosing another source loses nothing. */
export interface JobDraft {
  name: string
  source: 'harbor' | 'benchmark' | 'scenarios'
  yaml: string
  benchmark: Chosen | null
  scenarios: readonly Chosen[]
  agents: readonly AgentDraft[]
  concurrency: string
  attempts: string
  timeoutMultiplier: string
}

/** Typed as it stands it makes a job: of the tasks that come with Devdeck. */
export const exampleFile = 'agents:\n  - name: oracle\ndatasets:\n  - path: tasks'

export const newAgent = (key: number): AgentDraft => ({
  key,
  name: '',
  model: '',
  command: '',
  timeout: '',
  variables: [],
  secrets: [],
})

export const newJob: JobDraft = {
  name: '',
  source: 'harbor',
  yaml: '',
  benchmark: null,
  scenarios: [],
  agents: [newAgent(0)],
  concurrency: '',
  attempts: '',
  timeoutMultiplier: '',
}

/** By the field of the call, as the service names it: `spec.agent_configs[0].name`. */
export type FieldMessages = ReadonlyMap<string, string>

/** The call that makes the job, or what is wrong with what was typed. */
export const callOf = (draft: JobDraft): { body: BenchmarkJobCreate } | { problems: FieldMessages } => {
  const problems = new Map<string, string>()
  const wrong = (field: string, message: string) => {
    if (!problems.has(field)) problems.set(field, message)
  }
  const { source, yaml, benchmark, scenarios } = draft
  const name = draft.name.trim()
  if (source === 'harbor' && yaml.trim() === '') wrong('spec.inline_yaml', 'A job file is needed')
  if (source === 'benchmark' && !benchmark) wrong('spec.benchmark_id', 'Choose a benchmark')
  if (source === 'scenarios' && scenarios.length === 0) wrong('spec.scenario_ids', 'Choose at least one scenario')
  const of = {
    agent_configs: draft.agents.map((agent, i) =>
      configOf(agent, (field, message) => wrong(agentField(i, field), message)),
    ),
    orchestrator_config: {
      ...given('n_concurrent_trials', draft.concurrency),
      ...given('n_attempts', draft.attempts),
      ...given('timeout_multiplier', draft.timeoutMultiplier),
    },
  }
  const specs = {
    harbor: { type: 'harbor', inline_yaml: yaml },
    benchmark: { type: 'benchmark', benchmark_id: benchmark?.id ?? '', ...of },
    scenarios: { type: 'scenarios', scenario_ids: scenarios.map(({ id }) => id), ...of },
  } as const
  const body = { ...(name && { name }), spec: specs[source] }
  const parsed = BenchmarkJobCreate.safeParse(body)
  for (const { field, message } of parsed.error ? fieldProblems(parsed.error) : [])
    wrong(bracketed(field), numberWords(field) ?? message)
  if (source === 'harbor')
    for (const field of [...problems.keys()]) if (field.includes('agent_configs')) problems.delete(field)
  return problems.size > 0 || !parsed.success ? { problems } : { body: parsed.data }
}

/** The contract says that a value is invalid; people are told what it has to be. */
const numberWords = (field: string): string | undefined => {
  if (/\.(n_attempts|n_concurrent_trials)$/.test(field)) return 'must be a whole number'
  return /\.(timeout_seconds|timeout_multiplier)$/.test(field) ? 'must be a number' : undefined
}

export const agentField = (index: number, field: string): string => `spec.agent_configs[${index}].${field}`

const configOf = (agent: AgentDraft, wrong: (field: string, message: string) => void) => {
  if (agent.name.trim() === '') wrong('name', 'An agent needs a name')
  const mapOf = (rows: readonly KeyValueRow[], field: string) => {
    const read = rowsToMap(rows)
    if (read.ok) return read.map
    wrong(field, read.message)
    return {}
  }
  const environment_variables = mapOf(agent.variables, 'agent_environment.environment_variables')
  const secrets = mapOf(agent.secrets, 'agent_environment.secrets')
  const hasEnvironment = Object.keys(environment_variables).length + Object.keys(secrets).length > 0
  return {
    name: agent.name.trim(),
    type: 'job_agent' as const,
    ...(agent.model.trim() && { model_name: agent.model.trim() }),
    ...given('timeout_seconds', agent.timeout),
    ...(agent.command.trim() && { kwargs: { command: agent.command } }),
    ...(hasEnvironment && { agent_environment: { environment_variables, secrets } }),
  }
}

/** A number that was typed; what is none stays what it is, for the contract to refuse. */
const given = (field: string, text: string): Record<string, number> => {
  const typed = text.trim()
  return typed === '' ? {} : { [field]: /^[\d.eE+-]+$/.test(typed) ? Number(typed) : (typed as unknown as number) }
}

/** Paths of zod as the service writes them. */
const bracketed = (field: string): string => field.replace(/\.(\d+)(?=\.|$)/g, '[$1]')

/** What the service refused, by field; the text has a problem a line. */
export const refusedFields = (message: string, field: string | undefined): FieldMessages => {
  const found = new Map<string, string>()
  for (const line of message.split('\n')) {
    const [, at, text] = /^(name|metadata|spec[\w.[\]]*): (.+)$/.exec(line.trim()) ?? []
    if (at !== undefined && text !== undefined) found.set(at, found.has(at) ? `${found.get(at)}; ${text}` : text)
  }
  if (found.size === 0 && field !== undefined) found.set(bracketed(field), message)
  return found
}

const fields =
  /^(name|spec|spec\.benchmark_id|spec\.scenario_ids(\[\d+\])?|spec\.orchestrator_config\.(n_attempts|n_concurrent_trials|timeout_multiplier)|spec\.agent_configs\[\d+\]\.(name|model_name|timeout_seconds|kwargs\.command|agent_environment(\.(environment_variables|secrets))?))$/

/** Whether each problem stands at a field of the form; else the whole refusal is to be shown. */
export const areShown = (problems: FieldMessages): boolean =>
  problems.size > 0 && [...problems.keys()].every((field) => fields.test(field))
