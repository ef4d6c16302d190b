import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentConfig } from '#lib/contract/benchmark-jobs.ts'
import type { Scenario } from '#lib/contract/scenarios.ts'
import type { Executions } from '#lib/service/executions/executions.ts'
import { putRunFile } from '#lib/service/sandbox/run-file.ts'
import type { RunningDevbox } from '#lib/service/sandbox/sandbox.ts'
import type { TrialException } from './harbor/outcome.ts'
import { quote } from './workplace.ts'

/** The one agent that needs no command: it does nothing, so whatever scores with it needs no agent. */
const doNothing = 'nop'
/** Unspecified: how long an agent may take whose config does not say. As long as the public command line gives it. */
export const defaultAgentTimeoutSeconds = 7200
/** Of one string in a process's environment. */
const maxVariableBytes = 100_000

/** Of what an agent that failed has written last. */
const maxSaidLength = 1000

interface Problem {
  /** Below the agent's config. */
  field: string
  message: string
}

/**
 * Why a job_agent cannot be run here. Unspecified: what the name of an agent means. A command in `kwargs.command` makes
 * an agent of any name; without one there is only `nop`.
 */
export const agentProblems = ({ type, name, kwargs, timeout_seconds, agent_environment }: AgentConfig): Problem[] => {
  const command = kwargs?.command
  const problems: (Problem | false)[] = [
    type !== 'job_agent' && { field: 'type', message: 'must be job_agent' },
    name.trim() === '' && { field: 'name', message: 'must not be empty' },
    command === undefined &&
      name !== doNothing && {
        field: 'name',
        message: `there is no agent ${JSON.stringify(name)} here: give it a kwargs.command to run, or name it ${doNothing}`,
      },
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
        (!isVariable(key) || value.includes('\0') || Buffer.byteLength(value) > maxVariableBytes) && {
          field: `agent_environment.environment_variables.${key}`,
          message: `must be a name and a value bash can take, of at most ${maxVariableBytes} bytes`,
        },
    ),
    ...Object.keys(agent_environment?.secrets ?? {}).map(
      (key) =>
        !isVariable(key) && { field: `agent_environment.secrets.${key}`, message: 'must be a name bash can take' },
    ),
  ]
  return problems.filter((problem) => problem !== false)
}

const maxTimeoutSeconds = 24 * 3600
const isTimeout = (seconds: number) => seconds > 0 && seconds <= maxTimeoutSeconds
const isVariable = (name: string) => /^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(name)
const isCommand = (value: unknown) =>
  typeof value === 'string' &&
  value.trim() !== '' &&
  !value.includes('\0') &&
  Buffer.byteLength(value) <= maxVariableBytes

interface AgentRun {
  account: string
  scenario: Scenario
  agent: AgentConfig
  devboxId: string
  devbox: () => RunningDevbox
  executions: Executions
  timeoutSeconds: number
  /** From 1. */
  attempt: number
  /** Takes the secrets out of a text. */
  scrub: (text: string) => string
  signal: AbortSignal
}

/**
 * Runs an agent in the working directory of a scenario's devbox; null when it ended well, else what went wrong. Its
 * whole process group is killed when the time is over. Rejects when `signal` is aborted or the devbox does not run.
 */
export const runAgent = async (run: AgentRun): Promise<TrialException | null> => {
  const { account, agent, devboxId, devbox, executions, timeoutSeconds, signal } = run
  const command = agent.kwargs?.command
  if (typeof command !== 'string') return null
  const { runFolder, box } = devbox()
  const name = await putRunFile(runFolder, 'problem_statement', run.scenario.input_context.problem_statement)
  try {
    const id = executions.launch(devboxId, devbox, { account, command: script(run, command, `${box.run}/${name}`) })
    const done = await executions.reaches(devboxId, id, ['completed'], timeoutSeconds * 1000, signal)
    signal.throwIfAborted()
    if (!done) {
      await executions.kill(devboxId, id, true)
      return {
        exception_type: 'AgentTimeoutError',
        exception_message: `Agent execution timed out after ${timeoutSeconds} seconds`,
      }
    }
    const { exit_status, stderr } = await executions.get(devboxId, id, 20)
    if (exit_status === 0) return null
    const said = run
      .scrub(stderr ?? '')
      .trim()
      .slice(-maxSaidLength)
    return {
      exception_type: 'NonZeroAgentExitCodeError',
      exception_message: `The agent's command ended with exit status ${exit_status}${said && `: ${said}`}`,
    }
  } finally {
    await rm(join(runFolder, name), { force: true })
  }
}

/**
 * Unspecified: how an agent learns its task. By the same variables as in a Harbor job, so that one command serves in
 * both: HARBOR_INSTRUCTION_FILE and, where it is short enough for a variable, HARBOR_INSTRUCTION, HARBOR_MODEL_NAME and
 * HARBOR_ATTEMPT, which counts the tries from 1.
 */
const script = ({ scenario, agent, attempt }: AgentRun, command: string, file: string): string => {
  const { problem_statement } = scenario.input_context
  const directory = scenario.environment?.working_directory
  const isShort = Buffer.byteLength(problem_statement) <= maxVariableBytes && !problem_statement.includes('\0')
  return [
    ...(directory ? [`cd -- ${quote(directory)} || exit`] : []),
    `export HARBOR_INSTRUCTION_FILE=${quote(file)}`,
    // Not written out here: the command of an execution can be read by whoever sees its log.
    ...(isShort ? ['export HARBOR_INSTRUCTION="$(<"$HARBOR_INSTRUCTION_FILE")"'] : []),
    `export HARBOR_ATTEMPT=${attempt}`,
    ...(agent.model_name ? [`export HARBOR_MODEL_NAME=${quote(agent.model_name)}`] : []),
    command,
  ].join('\n')
}
