import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { AgentUsage } from '#lib/contract/agent-usage.ts'
import { quote } from '#lib/service/kit/quoting.ts'
import type { Workbench } from '../workbench.ts'
import type { AgentDefinition } from './definition.ts'
import { type AgentInstalls, agentFolder, setupError } from './installs.ts'
import { unknownUsage, usageByRule } from './usage.ts'

interface PrepareOptions {
  installs: AgentInstalls
  account: string
  scenarioRunId: string
  env: Record<string, string>
  restriction: NetworkRestriction | undefined
  signal: AbortSignal
}

export interface NetworkRestriction {
  source: string
  allows: (host: string) => boolean
}

/** Token counts are at the end of the output. */
const maxUsageBytes = 4 * 1024 * 1024
const maxTrajectoryBytes = 32 * 1024 * 1024
const versionSeconds = 60
const maxVersionLength = 100

export const prepareAgent = async (
  workbench: Workbench,
  definition: AgentDefinition,
  { installs, account, scenarioRunId, env, restriction, signal }: PrepareOptions,
): Promise<string | null> => {
  const { name, hosts, programs, secrets, anySecret, version, versionCommand, install } = definition
  const unset = Object.keys(secrets).filter((variable) => !env[variable])
  if (unset.length > 0) throw setupError(`Agent ${name} cannot start: ${unset.join(' and ')} is not set`)
  const choices = Object.keys(anySecret)
  if (choices.length > 0 && !choices.some((variable) => env[variable]))
    throw setupError(`Agent ${name} cannot start: none of ${choices.join(', ')} is set`)
  const blocked = restriction ? hosts.filter((host) => !restriction.allows(host)) : []
  if (restriction && blocked.length > 0)
    throw setupError(`Agent ${name} cannot start: ${restriction.source} does not allow ${blocked.join(', ')}`)
  await installs.provide(workbench, { account, scenarioRunId, definition, signal })
  const run = (command: string, seconds: number) =>
    workbench.run(`${searchPath}${command}`, {
      cwd: '/',
      env: { ...env, HARBOR_AGENT_FOLDER: agentFolder(workbench, name) },
      signal,
      limit: { seconds, error: () => setupError(`Agent ${name}: ${command} timed out after ${seconds} seconds`) },
    })
  for (const program of programs) {
    const { exitStatus } = await run(`command -v -- ${quote(program)} >/dev/null`, versionSeconds)
    if (exitStatus === 0) continue
    const hint =
      install === null
        ? `install it on the machine of the service, or add an install command to ${definition.origin}`
        : `its install command did not create it in HARBOR_AGENT_FOLDER/bin: ${install.trim()}`
    throw setupError(`Agent ${name} cannot start: ${program} is not installed in the devbox; ${hint}`)
  }
  if (version !== null || versionCommand === null) return version
  const { exitStatus, stdout } = await run(`(\n${versionCommand}\n)`, versionSeconds)
  const [line = ''] = stdout.trim().split('\n')
  return exitStatus === 0 && line !== '' ? line.slice(0, maxVersionLength) : null
}

const searchPath =
  'export PATH="$HARBOR_AGENT_FOLDER/bin:$HARBOR_AGENT_FOLDER/.local/bin:$HARBOR_AGENT_FOLDER/node_modules/.bin:$PATH"\n'

/** Writes the command's output to command.txt of its logs. */
export const scriptOf = ({ command }: Pick<AgentDefinition, 'command'>): string =>
  `${searchPath}(\n${command}\n) >"$HARBOR_AGENT_LOGS/command.txt" 2>&1`

/** Unspecified: how a named agent gets its kwargs. One variable each, and all as JSON. */
export const variablesOf = (
  workbench: Workbench,
  definition: AgentDefinition,
  jobKwargs: Record<string, unknown> | null | undefined,
): Record<string, string> => {
  const kwargs = { ...definition.kwargs, ...jobKwargs }
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

/** Reads usage and trajectory, and copies the trajectory to trajectory.json of the agent's logs. */
export const traceOf = async (
  workbench: Workbench,
  definition: AgentDefinition | null,
  logs: string,
): Promise<{ usage: AgentUsage; hasTrajectory: boolean }> => {
  const pathOf = (file: string) => (file.startsWith('/') ? file : `${logs}/${file}`)
  const path = pathOf(definition?.trajectory ?? trajectoryFile)
  try {
    const text = await workbench.read(path, maxTrajectoryBytes).catch(() => undefined)
    const found = text === undefined ? undefined : await readTrajectory(text)
    if (found && text !== undefined && path !== pathOf(trajectoryFile))
      await workbench.write(pathOf(trajectoryFile), text)
    const rule = definition?.usage
    if (!rule) return { usage: found ?? unknownUsage(noUsageSource), hasTrajectory: found !== undefined }
    const output = await workbench.readEnd(pathOf(rule.file), maxUsageBytes).catch(() => undefined)
    return { usage: usageByRule(rule, output), hasTrajectory: found !== undefined }
  } catch (error) {
    const reason = `the files of the agent could not be read: ${(error as Error).message}`
    return { usage: unknownUsage(reason), hasTrajectory: false }
  }
}

export const trajectoryFile = 'trajectory.json'
const noUsageSource = 'the agent wrote no trajectory, and its definition has no usage rule'

/** Parsed JSON takes many times the size of its text. */
const maxHeapMb = 1024

/** Undefined if the text is not a trajectory. Parsing may take seconds, so it runs in a worker. */
export const readTrajectory = async (text: string): Promise<AgentUsage | undefined> => {
  const worker = new Worker(new URL('./trajectory-worker.ts', import.meta.url), {
    workerData: text,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  })
  const [usage] = (await once(worker, 'message')) as [AgentUsage | undefined]
  return usage
}
