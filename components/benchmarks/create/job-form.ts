import type { FieldPath } from 'react-hook-form'
import * as z from 'zod/mini'
import type { PickedRecord } from '#components/list/record-picker.tsx'
import { type KeyValueRow, rowsToMap } from '#components/ui/key-values.ts'
import { BenchmarkJobCreate } from '#lib/contract/benchmark-jobs.ts'

interface AgentValues {
  name: string
  model: string
  command: string
  timeout: string
  variables: readonly KeyValueRow[]
  /** Variable and the name of its secret. */
  secrets: readonly KeyValueRow[]
}

/** Switching the source keeps the values of the others. */
export interface JobFormValues {
  name: string
  source: 'harbor' | 'benchmark' | 'scenarios'
  yaml: string
  benchmark: PickedRecord | null
  scenarios: readonly PickedRecord[]
  agents: AgentValues[]
  concurrency: string
  attempts: string
  timeoutMultiplier: string
}

export type JobField = FieldPath<JobFormValues>

/** Runs as is with the tasks that come with Devdeck. */
export const exampleFile = 'agents:\n  - name: oracle\ndatasets:\n  - path: tasks'

export const newAgent: AgentValues = { name: '', model: '', command: '', timeout: '', variables: [], secrets: [] }

export const newJob: JobFormValues = {
  name: '',
  source: 'harbor',
  yaml: '',
  benchmark: null,
  scenarios: [],
  agents: [newAgent],
  concurrency: '',
  attempts: '',
  timeoutMultiplier: '',
}

const fields: Record<string, JobField> = {
  name: 'name',
  'spec.inline_yaml': 'yaml',
  'spec.benchmark_id': 'benchmark',
  'spec.scenario_ids': 'scenarios',
  'spec.orchestrator_config.n_concurrent_trials': 'concurrency',
  'spec.orchestrator_config.n_attempts': 'attempts',
  'spec.orchestrator_config.timeout_multiplier': 'timeoutMultiplier',
}

const agentFields: Record<string, keyof AgentValues> = {
  name: 'name',
  model_name: 'model',
  timeout_seconds: 'timeout',
  'kwargs.command': 'command',
  agent_environment: 'secrets',
  'agent_environment.environment_variables': 'variables',
  'agent_environment.secrets': 'secrets',
}

/** Maps a field of the request, such as `spec.agent_configs[0].name`, to its form field. */
const formField = (requestField: string): JobField | null => {
  const path = requestField.replace(/\[(\d+)\]/g, '.$1')
  const [, index, name = ''] = /^spec\.agent_configs\.(\d+)\.(.+)$/.exec(path) ?? []
  const agentField = agentFields[name]
  if (index !== undefined) return agentField ? `agents.${Number(index)}.${agentField}` : null
  return fields[path.replace(/^(spec\.scenario_ids)\.\d+$/, '$1')] ?? null
}

/** Form errors of a rejected request, or null if one has no field of its own. The message has one problem per line. */
export const rejectedFields = (message: string, field: string | null): Map<JobField, string> | null => {
  const lines = message.split('\n').flatMap((line) => {
    const [, path, text] = /^(name|metadata|spec[\w.[\]]*): (.+)$/.exec(line.trim()) ?? []
    return path !== undefined && text !== undefined ? [{ path, text }] : []
  })
  const problems = lines.length > 0 ? lines : field === null ? [] : [{ path: field, text: message }]
  const found = new Map<JobField, string>()
  for (const { path, text } of problems) {
    const name = formField(path)
    if (name === null) return null
    found.set(name, found.has(name) ? `${found.get(name)}; ${text}` : text)
  }
  return found.size > 0 ? found : null
}

/** Validates the form with the contract's schema and returns the request body. */
export const JobForm = z.pipe(
  z.custom<JobFormValues>(),
  z.transform((values, context): BenchmarkJobCreate => {
    const problems = new Map<JobField, string>()
    const add = (field: JobField, message: string) => {
      if (!problems.has(field)) problems.set(field, message)
    }
    const { source, yaml, benchmark, scenarios } = values
    const name = values.name.trim()
    if (source === 'harbor' && yaml.trim() === '') add('yaml', 'Enter a job file')
    if (source === 'benchmark' && !benchmark) add('benchmark', 'Choose a benchmark')
    if (source === 'scenarios' && scenarios.length === 0) add('scenarios', 'Choose at least one scenario')
    const common =
      source === 'harbor'
        ? { agent_configs: [], orchestrator_config: {} }
        : {
            agent_configs: values.agents.map((agent, index) =>
              agentConfig(agent, (field, message) => add(`agents.${index}.${field}`, message)),
            ),
            orchestrator_config: {
              ...numberField('n_concurrent_trials', values.concurrency),
              ...numberField('n_attempts', values.attempts),
              ...numberField('timeout_multiplier', values.timeoutMultiplier),
            },
          }
    const specs = {
      harbor: { type: 'harbor', inline_yaml: yaml },
      benchmark: { type: 'benchmark', benchmark_id: benchmark?.id ?? '', ...common },
      scenarios: { type: 'scenarios', scenario_ids: scenarios.map(({ id }) => id), ...common },
    } as const
    const parsed = BenchmarkJobCreate.safeParse({ ...(name && { name }), spec: specs[source] })
    for (const { path, message } of parsed.error?.issues ?? []) {
      const field = formField(path.map(String).join('.'))
      if (field) add(field, numberMessage(field) ?? message)
    }
    for (const [field, message] of problems)
      context.issues.push({ code: 'custom', path: field.split('.'), message, input: values })
    return parsed.success && problems.size === 0 ? parsed.data : z.NEVER
  }),
)

/** The contract only says that a value is invalid. */
const numberMessage = (field: JobField): string | undefined => {
  if (field === 'attempts' || field === 'concurrency') return 'must be a whole number'
  return field === 'timeoutMultiplier' || field.endsWith('.timeout') ? 'must be a number' : undefined
}

const agentConfig = (agent: AgentValues, add: (field: keyof AgentValues, message: string) => void) => {
  if (agent.name.trim() === '') add('name', 'Enter an agent name')
  const toMap = (field: 'variables' | 'secrets') => {
    const rows = rowsToMap(agent[field])
    if (rows.ok) return rows.map
    add(field, rows.message)
    return {}
  }
  const [environment_variables, secrets] = [toMap('variables'), toMap('secrets')]
  const hasEnvironment = Object.keys(environment_variables).length + Object.keys(secrets).length > 0
  return {
    name: agent.name.trim(),
    type: 'job_agent' as const,
    ...(agent.model.trim() && { model_name: agent.model.trim() }),
    ...numberField('timeout_seconds', agent.timeout),
    ...(agent.command.trim() && { kwargs: { command: agent.command } }),
    ...(hasEnvironment && { agent_environment: { environment_variables, secrets } }),
  }
}

/** Passes invalid text on for the contract to reject. */
const numberField = (field: string, text: string): Record<string, number> => {
  const typed = text.trim()
  return typed === '' ? {} : { [field]: /^[\d.eE+-]+$/.test(typed) ? Number(typed) : (typed as unknown as number) }
}
