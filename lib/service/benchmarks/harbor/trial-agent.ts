import { posix } from 'node:path'
import type { AgentUsage } from '#lib/contract/agent-usage.ts'
import type { AgentRecord } from '#lib/service/domain/benchmark-jobs.ts'
import { agentFailure, runAgent } from '../agents/agents.ts'
import { prepareAgent, scriptOf, traceOf, trajectoryFile, variablesOf } from '../agents/named-run.ts'
import { sumOfUsages, unknownUsage } from '../agents/usage.ts'
import { TrialError } from '../outcome.ts'
import type { Workbench } from '../workbench.ts'
import type { BuiltEnvironment } from './environment.ts'
import { solutionOf, type Task, type TaskStep } from './task.ts'
import { environmentOf, resolve } from './templates.ts'
import type { TrialContext } from './trial-context.ts'

const agentLogs = '/logs/agent'
const instructionFile = `${agentLogs}/instruction.md`

/** Unspecified: agents that call a model on tasks without a network. They fail, as they would in Docker. */
const noNetwork = { source: 'the task (network_mode, allow_internet)', allows: () => false }

export class TrialAgent {
  readonly #context: TrialContext
  readonly #workbench: Workbench
  readonly #usages: AgentUsage[] = []
  readonly #trajectories: string[] = []
  #version: string | null = null

  constructor(context: TrialContext, workbench: Workbench) {
    this.#context = context
    this.#workbench = workbench
  }

  get record(): AgentRecord {
    return { version: this.#version, usage: sumOfUsages(this.#usages), trajectories: this.#trajectories }
  }

  async prepare(task: Task, { env }: BuiltEnvironment): Promise<void> {
    const { deps, options, log, reveal } = this.#context
    const { definition, agent } = options
    if (agent.name === 'oracle' && !task.steps.every((step) => solutionOf(task, step)))
      throw new TrialError('FileNotFoundError', 'The task has no solution/solve.sh for the oracle agent')
    if (!definition) return
    const { environment, steps } = task
    const isOffline = deps.images
      ? steps.some(({ agentNetwork }) => agentNetwork === 'none')
      : environment.network === 'none'
    this.#version = await prepareAgent(this.#workbench, definition, {
      ...options,
      installs: deps.installs,
      env: {
        ...env,
        ...variablesOf(this.#workbench, definition, agent.kwargs),
        ...environmentOf(agent.env, reveal),
      },
      restriction: isOffline ? noNetwork : undefined,
    })
    log.say(`Agent ${definition.name} from ${definition.origin}, version ${this.#version ?? 'unknown'}`)
  }

  async run(task: Task, step: TaskStep, { env, workdir, user }: BuiltEnvironment): Promise<void> {
    const { options, log, reveal } = this.#context
    const { agent, definition, attempt, settings, signal } = options
    const workbench = this.#workbench
    const seconds =
      Math.min(
        agent.overrideTimeoutSeconds ?? step.agentTimeoutSeconds ?? Number.POSITIVE_INFINITY,
        agent.maxTimeoutSeconds ?? Number.POSITIVE_INFINITY,
      ) * (settings.agentTimeoutMultiplier ?? settings.timeoutMultiplier)
    const instruction = [step.instruction, ...settings.extraInstructions].join('\n\n')
    await workbench.write(instructionFile, instruction)
    const isOracle = agent.name === 'oracle'
    if (isOracle) {
      await workbench.replace('/solution', solutionOf(task, step) ?? '')
      await workbench.must('chmod +x /solution/solve.sh')
    }
    workbench.user = await this.#context.userOf(step.agentUser, user)
    const command = definition
      ? scriptOf(definition)
      : agent.command && `(\n${agent.command}\n) >/logs/agent/command.txt 2>&1`
    const script = isOracle ? '(/solution/solve.sh) >/logs/agent/oracle.txt 2>&1' : command
    if (!script) return
    const { exitStatus } = await runAgent(workbench, {
      script,
      instruction,
      instructionFile,
      modelName: agent.modelName,
      attempt,
      cwd: workdir,
      env: {
        ...env,
        ...(definition && variablesOf(workbench, definition, agent.kwargs)),
        HARBOR_AGENT_LOGS: agentLogs,
        ...environmentOf(agent.env, reveal),
        ...(isOracle && { DEBIAN_FRONTEND: 'noninteractive', ...resolve(task.solutionEnv, reveal) }),
      },
      seconds,
      signal,
    })
    if (exitStatus === 0) return
    log.say(`The agent exited with ${exitStatus}`)
    await workbench.write('/logs/agent/exit-code.txt', String(exitStatus))
    // In Harbor, a failed solution is not an exception.
    if (!isOracle) throw agentFailure(exitStatus, await workbench.tail('/logs/agent/command.txt'))
  }

  async recordStep({ name }: TaskStep): Promise<void> {
    const { agent, definition } = this.#context.options
    if (agent.name === 'oracle' || agent.name === 'nop') {
      this.#usages.push(unknownUsage(`${agent.name} calls no model`))
      return
    }
    const { usage, hasTrajectory } = await traceOf(this.#workbench, definition, agentLogs)
    this.#usages.push(usage)
    if (hasTrajectory)
      this.#trajectories.push(posix.join(name === null ? '' : `steps/${name}`, 'agent', trajectoryFile))
  }
}
