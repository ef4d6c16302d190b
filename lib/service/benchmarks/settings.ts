import { isDeepStrictEqual } from 'node:util'

export interface RunConfig {
  [key: string]: unknown
  environment?: unknown
  verifier?: unknown
  agents?: readonly unknown[] | null
}

export const devboxEnvironment = { type: 'devbox' }

const maxTextLength = 256
const secretName = /(key|token|secret|password|credentials?)$/i

/** By dotted key: null if known to be unset, absent if unknown or different between agents. */
export const settingsOf = ({ environment, verifier, agents, ...job }: RunConfig): Record<string, unknown> => {
  const multipliers = scalarsOf(job).filter(([key]) => key.endsWith('timeout_multiplier'))
  const [first = [], ...others] = (agents ?? []).map(agentSettings)
  const shared = first.filter(([key, value]) =>
    others.every((other) => other.some((each) => each[0] === key && isDeepStrictEqual(each[1], value))),
  )
  return Object.fromEntries(
    [...multipliers, ...scalarsOf(environment, 'environment.'), ...scalarsOf(verifier, 'verifier.'), ...shared].filter(
      ([key]) => !secretName.test(key),
    ),
  )
}

const agentSettings = (agent: unknown): [string, unknown][] => [
  ...scalarsOf(agent, 'agent.').filter(([key]) => key.endsWith('_sec')),
  ...scalarsOf((agent as { kwargs?: unknown } | null)?.kwargs, 'agent.kwargs.'),
]

const scalarsOf = (value: unknown, prefix = ''): [string, unknown][] =>
  typeof value !== 'object' || value === null || Array.isArray(value)
    ? []
    : Object.entries(value).flatMap(([key, each]) => (isScalar(each) ? [[`${prefix}${key}`, each]] : []))

const isScalar = (value: unknown) =>
  value === null ||
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value)) ||
  (typeof value === 'string' && value.length <= maxTextLength)
