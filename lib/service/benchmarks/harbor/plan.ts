import type { StringMap } from '#lib/contract/common.ts'

/** What a job file asks for, resolved against the folders of this machine. Plain JSON: it is kept with its job. */
export interface HarborPlan {
  jobName: string | null
  /** In the order they run; no two are the same task. */
  scenarios: HarborScenario[]
  /** One benchmark run each. */
  agents: HarborAgent[]
  /** Independent attempts at each scenario by each agent. */
  nAttempts: number
  nConcurrentTrials: number
  quiet: boolean
  retry: HarborRetry
  settings: HarborSettings
  /** What was understood and does nothing here, one sentence each. */
  warnings: string[]
}

export interface HarborScenario {
  /** The same for the same account, dataset, name and content. */
  id: string
  name: string
  /** The folder name of the dataset it came with; null for a task named by its path. */
  source: string | null
  /** Absolute, without links in it. */
  path: string
  checksum: string
}

export type AgentKind = 'oracle' | 'nop' | 'command'

export interface HarborAgent {
  name: AgentKind
  modelName: string | null
  /** Run by `command` agents alone. */
  command: string | null
  kwargs: Record<string, unknown>
  overrideTimeoutSeconds: number | null
  maxTimeoutSeconds: number | null
  /** Trials of this agent at once; null leaves it to the job. */
  nConcurrent: number | null
  env: Environment
}

/** Values that are known, and the names of the account's secrets whose values the others take when a trial starts. */
export interface Environment {
  variables: StringMap
  /** Environment variable to secret name. */
  secrets: StringMap
}

/** What the job says about every trial. */
export interface HarborSettings {
  timeoutMultiplier: number
  agentTimeoutMultiplier: number | null
  verifierTimeoutMultiplier: number | null
  buildTimeoutMultiplier: number | null
  verifier: {
    overrideTimeoutSeconds: number | null
    maxTimeoutSeconds: number | null
    env: Environment
  }
  environment: {
    overrideCpus: number | null
    overrideMemoryMb: number | null
    overrideStorageMb: number | null
    env: Environment
  }
  /** Put before or after every instruction, already read. */
  extraInstructions: string[]
}

export interface HarborRetry {
  maxRetries: number
  /** Exception types to retry; null is all. */
  include: string[] | null
  /** Exception types not to retry, whatever `include` says. */
  exclude: string[]
  waitMultiplier: number
  minWaitSeconds: number
  maxWaitSeconds: number
}

/** What is wrong with a job file, and where; lines and columns count from 1. */
export interface HarborProblem {
  line: number
  column: number
  /** The keys that lead there, as `agents[0].name`; empty for the file itself. */
  path: string
  /** A sentence without the position. */
  message: string
}
