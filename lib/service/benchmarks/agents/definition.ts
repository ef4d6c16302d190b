import * as z from 'zod/mini'
import { readTomlText } from '../toml-file.ts'
import { isVariableName, maxVariableBytes } from '../workbench.ts'

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
/** A path in the JSON values of the file, with `*` for any key, or a pattern whose first group is the number. */
export type UsageSource = { path: string } | { pattern: string }
const sources = () =>
  z.pipe(
    z.optional(
      z.union([source(), z.array(source())], 'must be a path, a table with a pattern with one group, or a list'),
    ),
    z.transform((given): UsageSource[] =>
      [given ?? []].flat().map((each) => (typeof each === 'string' ? { path: each } : each)),
    ),
  )

const UsageRule = z.pipe(
  table({
    /** Absolute, or relative to HARBOR_AGENT_LOGS; `command.txt` is the output of the command. */
    file: z._default(text(), 'command.txt'),
    /** Use the last number found, or the sum of all. */
    take: z._default(z.enum(['last', 'sum'], 'must be last or sum'), 'last'),
    input_tokens: sources(),
    cache_tokens: sources(),
    output_tokens: sources(),
    cost_usd: sources(),
  }),
  z.transform(({ file, take, input_tokens: input, cache_tokens: cache, output_tokens: output, cost_usd: cost }) => ({
    file,
    take,
    input,
    cache,
    output,
    cost,
  })),
)
export type UsageRule = z.output<typeof UsageRule>

/** Schema of agent.toml. Rejects unknown keys: a typo in a rule would silently count nothing. */
const Manifest = z.pipe(
  table({
    command: command(),
    version: z.optional(text().check(z.maxLength(100, 'must be at most 100 characters'))),
    version_command: z.optional(command()),
    /** Must be installed before the agent starts. */
    programs: z._default(z.array(text(), 'must be a list of names'), []),
    network: z._default(z.array(text(), 'must be a list of host names'), []),
    model: z._default(z.enum(['required', 'optional'], 'must be required or optional'), 'optional'),
    /** Absolute, or relative to HARBOR_AGENT_LOGS. */
    trajectory: z._default(text(), 'trajectory.json'),
    /** Runs once, in its own devbox. Every trial gets a copy of what it writes to HARBOR_AGENT_FOLDER. */
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
    /** At least one must be set; all that are set are passed. */
    any_secret: z._default(variables(), {}),
    /** Additional secrets by model provider; if there are any, the model must be from one of these providers. */
    providers: z._default(z.record(z.string(), variables(), 'must be tables by provider'), {}),
    kwargs: z._default(z.record(z.string(), z.unknown(), 'must be a table'), {}),
    usage: z.optional(UsageRule),
  }),
  z.transform(({ install, version, version_command, network, model, any_secret, usage, ...same }) => ({
    ...same,
    install: install?.command ?? null,
    installSeconds: install?.timeout_sec ?? 0,
    version: version ?? null,
    versionCommand: version_command ?? null,
    hosts: network,
    needsModel: model === 'required',
    anySecret: any_secret,
    usage: usage ?? null,
  })),
)

/** A named agent, defined by an operator or a recipe. Plain JSON: a job stores the definitions it was created with. */
export interface AgentDefinition extends z.output<typeof Manifest> {
  name: string
  origin: string
}

export const definitionOf = (name: string, origin: string, command: string): AgentDefinition => ({
  name,
  origin,
  ...Manifest.parse({ command: 'true' }),
  command,
})

export const readManifest = (
  name: string,
  origin: string,
  content: string,
): { definition: AgentDefinition; problems?: undefined } | { definition?: undefined; problems: string[] } => {
  const { data, problems } = readTomlText(content, Manifest)
  if (data) return { definition: { name, origin, ...data } }
  return {
    problems: problems.map(({ line, message }) => `${origin}${line === undefined ? '' : ` line ${line}`}: ${message}`),
  }
}
