import type { AgentConfig } from '#lib/contract/benchmark-jobs.ts'
import type { FieldProblem } from '#lib/contract/query-string.ts'
import { pythonSeconds, TrialError } from '../outcome.ts'
import { type Finished, isVariableName, maxVariableBytes, type Workbench } from '../workbench.ts'
import type { NamedAgents } from './named-agents.ts'

/** The only built-in agent; a task that scores with it is broken. */
const nopAgent = 'nop'
/** Unspecified: the default timeout of an agent. The public CLI uses the same. */
export const defaultAgentTimeoutSeconds = 7200

/** Unspecified: what an agent's name means. Any name with a `kwargs.command`; otherwise `nop` or a named agent. */
export const agentProblems = (
  { type, name, kwargs, timeout_seconds, agent_environment }: AgentConfig,
  namedAgents: Pick<NamedAgents, 'find' | 'unknownAgentMessage'>,
): FieldProblem[] => {
  const command = kwargs?.command
  const found = command === undefined && name !== nopAgent ? namedAgents.find(name) : undefined
  const problems: (FieldProblem | false)[] = [
    type !== 'job_agent' && { field: 'type', message: 'must be job_agent' },
    name.trim() === '' && { field: 'name', message: 'must not be empty' },
    command === undefined &&
      name !== nopAgent &&
      !found && { field: 'name', message: `${namedAgents.unknownAgentMessage(name)}; or set kwargs.command` },
    ...(found?.problems ?? []).map((message) => ({ field: 'name', message })),
    command !== undefined &&
      !isCommand(command) && {
        field: 'kwargs.command',
        message: `must be a command of at most ${maxVariableBytes} bytes`,
      },
    !(timeout_seconds === undefined || timeout_seconds === null || isTimeout(timeout_seconds)) && {
      field: 'timeout_seconds',
      message: `must be a number above 0 and at most ${maxTimeoutSeconds}`,
    },
    ...Object.entries(agent_environment?.environment_variables ?? {}).map(
      ([key, value]) =>
        (!isVariableName(key) || value.includes('\0') || Buffer.byteLength(value) > maxVariableBytes) && {
          field: `agent_environment.environment_variables.${key}`,
          message: `must be a valid variable name and a value of at most ${maxVariableBytes} bytes`,
        },
    ),
    ...Object.keys(agent_environment?.secrets ?? {}).map(
      (key) =>
        !isVariableName(key) && { field: `agent_environment.secrets.${key}`, message: 'must be a valid variable name' },
    ),
  ]
  return problems.filter((problem) => problem !== false)
}

const maxTimeoutSeconds = 24 * 3600
const isTimeout = (seconds: number) => seconds > 0 && seconds <= maxTimeoutSeconds
const isCommand = (value: unknown) =>
  typeof value === 'string' &&
  value.trim() !== '' &&
  !value.includes('\0') &&
  Buffer.byteLength(value) <= maxVariableBytes

interface AgentRun {
  script: string
  instruction: string
  instructionFile: string
  modelName: string | null | undefined
  /** From 1. */
  attempt: number
  cwd: string | null | undefined
  env: Record<string, string>
  seconds: number
  signal: AbortSignal
}

/** Unspecified: a command gets its task in HARBOR_INSTRUCTION_FILE, and in HARBOR_INSTRUCTION if short enough. */
export const runAgent = (workbench: Workbench, run: AgentRun): Promise<Finished> => {
  const { script, instruction, instructionFile, modelName, attempt, cwd, env, seconds, signal } = run
  const isShort = Buffer.byteLength(instruction) <= maxVariableBytes && !instruction.includes('\0')
  const message = `Agent execution timed out after ${pythonSeconds(seconds)} seconds`
  return workbench.run(script, {
    cwd,
    env: {
      ...env,
      HARBOR_INSTRUCTION_FILE: instructionFile,
      ...(isShort && { HARBOR_INSTRUCTION: instruction }),
      ...(modelName && { HARBOR_MODEL_NAME: modelName }),
      HARBOR_ATTEMPT: String(attempt),
    },
    signal,
    limit: { seconds, error: () => new TrialError('AgentTimeoutError', message) },
  })
}

export const agentFailure = (exitStatus: number, output: string) =>
  new TrialError(
    'NonZeroAgentExitCodeError',
    `The agent's command failed with exit code ${exitStatus}${output && `: ${output}`}`,
  )
