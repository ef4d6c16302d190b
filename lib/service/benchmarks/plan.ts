import type { AgentConfig, BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import type { StringMap } from '#lib/contract/common.ts'
import type { FieldProblem } from '#lib/contract/query-string.ts'
import type { RunProfile } from '#lib/contract/scenario-runs.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import type { JobWarning } from '#lib/service/store/benchmark-jobs.ts'
import type { AgentDefinition } from './agents/definition.ts'

/** What a job runs. Plain JSON: it is kept with the job, and a restart goes on with it. */
export interface JobPlan {
  /** In the order they run. */
  scenarios: { id: string; name: string }[]
  /** Independent attempts at each scenario by each agent. */
  attempts: number
  concurrentTrials: number
  retry: RetryPolicy
  /** What each retry multiplies the time of an agent by. */
  timeoutMultiplier: number
  benchmarkId: string | null
  /** In the order of the spec, as they were defined when the job was made; null for one that brings its command. */
  agents?: (AgentDefinition | null)[]
  /** Of a job that was made from a Harbor job file. */
  harbor: HarborPart | null
}

export interface RetryPolicy {
  maxRetries: number
  /** Exception types to retry; null is all. */
  include: string[] | null
  /** Exception types not to retry, whatever `include` says. */
  exclude: string[]
  waitMultiplier: number
  minWaitSeconds: number
  maxWaitSeconds: number
}

/** What the trials of a Harbor job are made of; scenarios and agents are in the order of the plan and of the spec. */
export interface HarborPart {
  /** No two are the same task. */
  scenarios: HarborScenario[]
  /** Tasks that are still to be read; then they are the scenarios. */
  unread: ChosenTask[]
  agents: HarborAgent[]
  settings: HarborSettings
  /** What was understood and does nothing here, one sentence each. */
  warnings: string[]
}

export interface ChosenTask {
  /** Absolute, without links in it. */
  path: string
  /** The folder name of the dataset it came with; null for a task named by its path. */
  source: string | null
}

export interface HarborScenario extends ChosenTask {
  /** The same for the same account, dataset, name and content. */
  id: string
  name: string
  checksum: string
  /** What its author says of it. */
  metadata: StringMap
  /** What of it will not be as its author meant it, as far as that can be told without a devbox. */
  warnings: string[]
}

export interface HarborAgent {
  /** oracle, nop, command, or the name of an agent that is defined here. */
  name: string
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
    /** Whether Dockerfiles are built also where tasks name an image. */
    forceBuild: boolean
    env: Environment
  }
  /** Put after every instruction, already read. */
  extraInstructions: string[]
}

/** A job before it is made. */
export interface PlannedJob {
  /** What the job file calls it. */
  name: string | null
  source: NonNullable<BenchmarkJob['job_source']>
  spec: NonNullable<BenchmarkJob['job_spec']>
  plan: JobPlan
  settings: Record<string, unknown>
  /** What is known before any trial has begun. */
  warnings: JobWarning[]
}

/** What the devboxes of an agent's trials are started with. */
export const profileOf = ({ agent_environment }: AgentConfig): RunProfile => ({
  envVars: agent_environment?.environment_variables ?? {},
  secrets: agent_environment?.secrets ?? {},
})

/** Unspecified: how many trials one job may have. */
export const maxTrialsPerJob = 100_000

/** Unspecified: how many problems one message tells; a text of a million mistakes needs no million lines. */
const maxProblems = 50

/** A 400 whose message tells every problem. */
export const planRefusal = (problems: readonly FieldProblem[]): ServiceError => {
  const told = problems.slice(0, maxProblems).map(({ field, message }) => `${field}: ${message}`)
  const more = problems.length - told.length
  return new ServiceError('invalid_argument', [...told, ...(more > 0 ? [`and ${more} more`] : [])].join('\n'), {
    field: problems[0]?.field ?? 'spec',
    shouldRetry: false,
  })
}
