import type { AgentUsage } from '#lib/contract/agent-usage.ts'
import { quote } from '#lib/service/kit/quoting.ts'
import type { Workbench } from '../workbench.ts'
import type { AgentDefinition } from './definition.ts'
import { type AgentInstalls, agentFolder, setupError } from './installs.ts'
import { readTrajectory } from './trajectory.ts'
import { unknownUsage, usageByRule } from './usage.ts'

interface Beginning {
  installs: AgentInstalls
  account: string
  scenarioRunId: string
  /** Everything the agent's command will see. */
  env: Record<string, string>
  /** What keeps the devbox from some hosts; undefined when nothing does. */
  bound: NetworkBound | undefined
  signal: AbortSignal
}

/** Who says what a devbox may reach, in words, and what that is. */
export interface NetworkBound {
  saidBy: string
  allows: (host: string) => boolean
}

/** Of an output only the end is looked at; what counts tokens stands there. */
const maxUsageBytes = 4 * 1024 * 1024
const maxTrajectoryBytes = 32 * 1024 * 1024
const versionSeconds = 60
const maxVersionLength = 100

/**
 * Makes a devbox ready for an agent with a name: what is missing is a TrialError in words. Resolves to the agent's
 * version, where it tells one.
 */
export const prepareAgent = async (
  workbench: Workbench,
  definition: AgentDefinition,
  { installs, account, scenarioRunId, env, bound, signal }: Beginning,
): Promise<string | null> => {
  const { name, hosts, programs, secrets, anySecret, version, versionCommand, install } = definition
  const unset = Object.keys(secrets).filter((variable) => !env[variable])
  if (unset.length > 0) throw setupError(`Agent ${name} cannot start: ${unset.join(' and ')} is not set`)
  const choices = Object.keys(anySecret)
  if (choices.length > 0 && !choices.some((variable) => env[variable]))
    throw setupError(`Agent ${name} cannot start: none of ${choices.join(', ')} is set`)
  const refused = bound ? hosts.filter((host) => !bound.allows(host)) : []
  if (bound && refused.length > 0)
    throw setupError(`Agent ${name} cannot start: it calls ${refused.join(', ')}, which ${bound.saidBy} does not allow`)
  await installs.provide(workbench, { account, scenarioRunId, definition, signal })
  const run = (command: string, seconds: number) =>
    workbench.run(`${searchPath}${command}`, {
      cwd: '/',
      env: { ...env, HARBOR_AGENT_FOLDER: agentFolder(workbench, name) },
      signal,
      limit: { seconds, error: () => setupError(`Agent ${name} did not answer ${command} within ${seconds} seconds`) },
    })
  for (const program of programs) {
    const { exitStatus } = await run(`command -v -- ${quote(program)} >/dev/null`, versionSeconds)
    if (exitStatus === 0) continue
    const hint =
      install === null
        ? `install it on the machine of the service, or give ${definition.origin} an install command`
        : `its install command ran and left no such program in HARBOR_AGENT_FOLDER/bin: ${install.trim()}`
    throw setupError(`Agent ${name} cannot start: the program ${program} is not installed in the devbox; ${hint}`)
  }
  if (version !== null || versionCommand === null) return version
  const { exitStatus, stdout } = await run(`(\n${versionCommand}\n)`, versionSeconds)
  const [line = ''] = stdout.trim().split('\n')
  return exitStatus === 0 && line !== '' ? line.slice(0, maxVersionLength) : null
}

/** Where an install leaves programs comes before the rest of the machine. */
const searchPath =
  'export PATH="$HARBOR_AGENT_FOLDER/bin:$HARBOR_AGENT_FOLDER/.local/bin:$HARBOR_AGENT_FOLDER/node_modules/.bin:$PATH"\n'

/** The script that runs an agent: all that it says is in command.txt of its logs. */
export const scriptOf = ({ command }: Pick<AgentDefinition, 'command'>): string =>
  `${searchPath}(\n${command}\n) >"$HARBOR_AGENT_LOGS/command.txt" 2>&1`

/** Variables of an agent with a name. Unspecified: how it learns its kwargs. Each one by itself, and all as JSON. */
export const variablesOf = (
  workbench: Workbench,
  definition: AgentDefinition,
  given: Record<string, unknown> | null | undefined,
): Record<string, string> => {
  const kwargs = { ...definition.kwargs, ...given }
  const single = Object.entries(kwargs).flatMap(([key, value]) => {
    const variable = `HARBOR_KWARG_${key.toUpperCase().replaceAll(/[^A-Z0-9_]/g, '_')}`
    return value === null || value === undefined
      ? []
      : [[variable, typeof value === 'string' ? value : JSON.stringify(value)]]
  })
  return {
    ...definition.env,
    ...Object.fromEntries(single),
    HARBOR_KWARGS: JSON.stringify(kwargs),
    HARBOR_AGENT_FOLDER: agentFolder(workbench, definition.name),
  }
}

/**
 * What an agent left behind that tells how it worked; what cannot be read is told as unknown. Its trajectory is in
 * trajectory.json of its logs afterwards.
 */
export const traceOf = async (
  workbench: Workbench,
  definition: AgentDefinition | null,
  logs: string,
): Promise<{ usage: AgentUsage; hasTrajectory: boolean }> => {
  const at = (file: string) => (file.startsWith('/') ? file : `${logs}/${file}`)
  const path = at(definition?.trajectory ?? trajectoryFile)
  try {
    const text = await workbench.read(path, maxTrajectoryBytes).catch(() => undefined)
    const told = text === undefined ? undefined : await readTrajectory(text)
    if (told && text !== undefined && path !== at(trajectoryFile)) await workbench.write(at(trajectoryFile), text)
    return { usage: await usageOf(workbench, definition, at, told), hasTrajectory: told !== undefined }
  } catch (error) {
    const reason = `what the agent left could not be read: ${(error as Error).message}`
    return { usage: unknownUsage(reason), hasTrajectory: false }
  }
}

export const trajectoryFile = 'trajectory.json'

const usageOf = async (
  workbench: Workbench,
  definition: AgentDefinition | null,
  at: (file: string) => string,
  ofTrajectory: AgentUsage | undefined,
): Promise<AgentUsage> => {
  const rule = definition?.usage
  if (rule) return usageByRule(rule, await workbench.readEnd(at(rule.file), maxUsageBytes).catch(() => undefined))
  return ofTrajectory ?? unknownUsage('the agent left no trajectory, and no rule tells where it writes its tokens')
}
