import * as z from 'zod/mini'
import type { StringMap } from '#lib/contract/common.ts'
import { readTomlText } from '../toml-file.ts'
import { isVariableName, maxVariableBytes } from '../workbench.ts'

/** A named agent, defined by an operator or a recipe. Plain JSON: a job stores the definitions it was created with. */
export interface AgentDefinition {
  name: string
  origin: string
  command: string
  /** Runs once, in its own devbox. Every trial gets a copy of what it writes to HARBOR_AGENT_FOLDER. */
  install: string | null
  installSeconds: number
  version: string | null
  versionCommand: string | null
  /** Must be installed before the agent starts. */
  programs: string[]
  hosts: string[]
  needsModel: boolean
  env: StringMap
  secrets: StringMap
  /** At least one is required; all that exist are passed. */
  anySecret: StringMap
  /** Additional secrets by model provider; if there are any, the model must be from one of these providers. */
  providers: Record<string, StringMap>
  kwargs: Record<string, unknown>
  usage: UsageRule | null
  /** Absolute, or relative to HARBOR_AGENT_LOGS. */
  trajectory: string
}

export interface UsageRule {
  /** Absolute, or relative to HARBOR_AGENT_LOGS; `command.txt` is the output of the command. */
  file: string
  /** Use the last number found, or the sum of all. */
  take: 'last' | 'sum'
  input: UsageSource[]
  cache: UsageSource[]
  output: UsageSource[]
  cost: UsageSource[]
}

/** A path in the JSON values of the file, with `*` for any key, or a pattern whose first group is the number. */
export type UsageSource = { path: string } | { pattern: string }

const table = <S extends z.core.$ZodLooseShape>(shape: S) => z.strictObject(shape, { error: unknownKeys })
const unknownKeys = (issue: { code: string; keys?: string[] }) =>
  issue.code === 'unrecognized_keys' ? `has an unknown key: ${issue.keys?.join(', ')}` : 'must be a table'
const text = () => z.string('must be a string').check(z.regex(/\S/, 'must not be empty'))
const command = () =>
  text().check(
    z.refine(
      (value) => !value.includes('\0') && Buffer.byteLength(value) <= maxVariableBytes,
      `must be a command of at most ${maxVariableBytes} bytes`,
    ),
  )
const variables = () =>
  z.record(
    z.string().check(z.refine(isVariableName, 'must be a valid variable name')),
    z.string('must be a string'),
    'must be a table of strings',
  )
const isPattern = (source: string): boolean => {
  try {
    return new RegExp(`${source}|`).exec('')?.length === 2
  } catch {
    return false
  }
}
const Pattern = table({
  pattern: z.string('must be a string').check(z.refine(isPattern, 'must be a pattern with one group')),
})
const source = () => z.union([text(), Pattern], 'must be a path, or a table with a pattern with one group')
const sources = () =>
  z.optional(z.union([source(), z.array(source())], 'must be a path, a table with a pattern with one group, or a list'))
type Given = string | { pattern: string } | (string | { pattern: string })[] | undefined

/** Schema of agent.toml. Rejects unknown keys: a typo in a rule would silently count nothing. */
const Manifest = table({
  command: command(),
  version: z.optional(text().check(z.maxLength(100, 'must be at most 100 characters'))),
  version_command: z.optional(command()),
  programs: z._default(z.array(text(), 'must be a list of names'), []),
  network: z._default(z.array(text(), 'must be a list of host names'), []),
  model: z._default(z.enum(['required', 'optional'], 'must be required or optional'), 'optional'),
  trajectory: z._default(text(), 'trajectory.json'),
  install: z.optional(
    table({
      command: command(),
      timeout_sec: z._default(
        z.number('must be a number of seconds').check(z.positive('must be more than 0'), z.maximum(3600)),
        360,
      ),
    }),
  ),
  env: z._default(variables(), {}),
  secrets: z._default(variables(), {}),
  any_secret: z._default(variables(), {}),
  providers: z._default(z.record(z.string(), variables(), 'must be tables by provider'), {}),
  kwargs: z._default(z.record(z.string(), z.unknown(), 'must be a table'), {}),
  usage: z.optional(
    table({
      file: z._default(text(), 'command.txt'),
      take: z._default(z.enum(['last', 'sum'], 'must be last or sum'), 'last'),
      input_tokens: sources(),
      cache_tokens: sources(),
      output_tokens: sources(),
      cost_usd: sources(),
    }),
  ),
})

export const readManifest = (
  name: string,
  origin: string,
  content: string,
): { definition: AgentDefinition; problems?: undefined } | { definition?: undefined; problems: string[] } => {
  const { data, problems } = readTomlText(content, Manifest)
  if (problems)
    return {
      problems: problems.map(
        ({ line, message }) => `${origin}${line === undefined ? '' : ` line ${line}`}: ${message}`,
      ),
    }
  const { install, usage, version, version_command, programs, network, model, trajectory } = data
  const { env, secrets, any_secret: anySecret, providers, kwargs } = data
  return {
    definition: {
      name,
      origin,
      command: data.command,
      install: install?.command ?? null,
      installSeconds: install?.timeout_sec ?? 0,
      version: version ?? null,
      versionCommand: version_command ?? null,
      programs,
      hosts: network,
      needsModel: model === 'required',
      env,
      secrets,
      anySecret,
      providers,
      kwargs,
      usage: usage
        ? {
            file: usage.file,
            take: usage.take,
            input: sourcesOf(usage.input_tokens),
            cache: sourcesOf(usage.cache_tokens),
            output: sourcesOf(usage.output_tokens),
            cost: sourcesOf(usage.cost_usd),
          }
        : null,
      trajectory,
    },
  }
}

const sourcesOf = (given: Given): UsageSource[] =>
  (given === undefined ? [] : Array.isArray(given) ? given : [given]).map((each) =>
    typeof each === 'string' ? { path: each } : { pattern: each.pattern },
  )
