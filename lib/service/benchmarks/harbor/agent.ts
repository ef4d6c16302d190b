import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { HarborAgent } from './plan.ts'
import type { Task, TaskStep } from './task.ts'

/** Where an agent finds what it is to do. */
export const instructionFile = '/logs/agent/instruction.md'

// Of one string in a process's environment.
const maxVariableBytes = 100_000

/**
 * What an agent runs in the work directory; undefined for the one that does nothing.
 *
 * Unspecified: Harbor has no agent that is a command. Ours runs `kwargs.command` with bash. It finds its instruction in
 * the file HARBOR_INSTRUCTION_FILE and, where it is short enough for a variable, in HARBOR_INSTRUCTION; HARBOR_MODEL_NAME is the
 * agent's `model_name`, HARBOR_ATTEMPT counts from 1.
 */
export const agentCommand = ({
  agent,
  instruction,
  attempt,
}: {
  agent: HarborAgent
  instruction: string
  attempt: number
}): { script: string; env: Record<string, string> } | undefined => {
  if (agent.name === 'oracle')
    return {
      script: 'chmod +x /solution/solve.sh && (/solution/solve.sh) >/logs/agent/oracle.txt 2>&1',
      env: { DEBIAN_FRONTEND: 'noninteractive' },
    }
  if (agent.command === null) return undefined
  const isShort = Buffer.byteLength(instruction) <= maxVariableBytes && !instruction.includes('\0')
  return {
    script: `(\n${agent.command}\n) >/logs/agent/command.txt 2>&1`,
    env: {
      HARBOR_INSTRUCTION_FILE: instructionFile,
      ...(isShort && { HARBOR_INSTRUCTION: instruction }),
      ...(agent.modelName && { HARBOR_MODEL_NAME: agent.modelName }),
      HARBOR_ATTEMPT: String(attempt),
    },
  }
}

/** The folder with the solution of a step: its own, or that of the whole task. */
export const solutionOf = (task: Task, step: TaskStep): string | undefined =>
  [join(step.folder, 'solution'), join(task.path, 'solution')].find((folder) => existsSync(join(folder, 'solve.sh')))
