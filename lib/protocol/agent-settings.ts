import type { AgentConfig, BenchmarkOutcome } from '#lib/contract/benchmark-jobs.ts'

type Values = Readonly<Record<string, unknown>>

export interface AgentSettings {
  /** A missing name is unset. */
  configured: Values
  /** A missing name is unknown. */
  reported: Values
}

interface Named {
  name: string
  model: string | null
}

const [maxNamed, maxLength] = [3, 40]

/** Adds to agents that share name and model what they differ by. `settingsOf` returns undefined if that is unknown. */
export const withDifferences = <Agent extends Named>(
  agents: readonly Agent[],
  settingsOf: (agent: Agent) => AgentSettings | undefined,
): (Agent & { differs?: string })[] => {
  const differences = new Map<Agent, string>()
  for (const same of Map.groupBy(agents, ({ name, model }) => JSON.stringify([name, model])).values()) {
    const settings = same.length > 1 ? same.map(settingsOf) : []
    if (!settings.every((each) => each !== undefined)) continue
    const columns = [
      ...columnsOf(settings.map(({ configured }) => configured)).map(([name, values]) => {
        return [name, values.map((value) => value ?? 'unset')] as const
      }),
      ...columnsOf(settings.map(({ reported }) => reported)),
    ].filter(([, values]) => new Set(values.filter((value) => value !== undefined)).size > 1)
    if (columns.length === 0) continue
    const more = columns.length > maxNamed ? [`and ${columns.length - maxNamed} more`] : []
    for (const [at, agent] of same.entries()) {
      const parts = columns.slice(0, maxNamed).map(([name, values]) => `${name}=${values[at] ?? 'not reported'}`)
      differences.set(agent, [...parts, ...more].join(', '))
    }
  }
  return agents.map((agent) => {
    const differs = differences.get(agent)
    return differs === undefined ? agent : { ...agent, differs }
  })
}

const columnsOf = (settings: readonly Values[]): [name: string, values: (string | undefined)[]][] =>
  [...new Set(settings.flatMap((each) => Object.keys(each)))].map((name) => [
    name,
    settings.map((each) => textOf(each[name])),
  ])

const textOf = (value: unknown): string | undefined => {
  if (value == null) return undefined
  const text = [...(typeof value === 'string' ? value : JSON.stringify(value)).replace(/\s+/g, ' ')]
  return text.length <= maxLength ? text.join('') : `${text.slice(0, maxLength).join('')}…`
}

/** Leaves out the names of stored secrets. */
export const agentSettings = (
  { kwargs, timeout_seconds, agent_environment }: AgentConfig,
  { scenario_outcomes }: BenchmarkOutcome,
): AgentSettings => {
  const versions = new Set(scenario_outcomes.flatMap(({ agent_version }) => agent_version || []))
  return {
    configured: { ...flat(kwargs ?? {}), ...agent_environment?.environment_variables, timeout_seconds },
    reported: versions.size === 0 ? {} : { version: [...versions].sort().join(' and ') },
  }
}

/** Nested objects as dotted names. */
const flat = (record: Values, prefix = ''): Values =>
  Object.assign(
    {},
    ...Object.entries(record).map(([name, value]) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? flat(value as Values, `${prefix}${name}.`)
        : { [`${prefix}${name}`]: value },
    ),
  )
