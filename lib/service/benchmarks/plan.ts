import type { AgentConfig, BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import type { StringMap } from '#lib/contract/common.ts'
import type { FieldProblem } from '#lib/contract/query-string.ts'
import type { RunProfile } from '#lib/contract/scenario-runs.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import type { JobWarning } from '#lib/service/store/benchmark-jobs.ts'
import type { AgentDefinition } from './agents/definition.ts'

/** What a job runs. Plain JSON, stored with the job, so that a restart can resume it. */
export interface JobPlan {
  scenarios: { id: string; name: string }[]
  attempts: number
  concurrentTrials: number
  retry: RetryPolicy
  /** Agent timeouts grow by this factor per retry. */
  timeoutMultiplier: number
  benchmarkId: string | null
  /** In the order of the spec, as defined when the job was created; null for agents with their own command. */
  agents?: (AgentDefinition | null)[]
  harbor: HarborPart | null
}

export interface RetryPolicy {
  maxRetries: number
  /** Exception types to retry; null for all. */
  include: string[] | null
  exclude: string[]
  waitMultiplier: number
  minWaitSeconds: number
  maxWaitSeconds: number
}

/** Scenarios and agents are in the order of the plan and the spec. */
export interface HarborPart {
  scenarios: HarborScenario[]
  unread: ChosenTask[]
  agents: HarborAgent[]
  settings: HarborSettings
  warnings: string[]
}

export interface ChosenTask {
  /** Absolute, without symbolic links. */
  path: string
  /** Folder name of the dataset; null for a task named by its path. */
  source: string | null
}

export interface HarborScenario extends ChosenTask {
  /** Stable per account, dataset, name and content. */
  id: string
  name: string
  checksum: string
  metadata: StringMap
  warnings: string[]
}

export interface HarborAgent {
  /** oracle, nop, command, or a named agent. */
  name: string
  modelName: string | null
  command: string | null
  kwargs: Record<string, unknown>
  overrideTimeoutSeconds: number | null
  maxTimeoutSeconds: number | null
  nConcurrent: number | null
  env: Environment
}

export interface Environment {
  variables: StringMap
  secrets: StringMap
}

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
    forceBuild: boolean
    env: Environment
  }
  extraInstructions: string[]
}

export interface PlannedJob {
  name: string | null
  source: NonNullable<BenchmarkJob['job_source']>
  spec: NonNullable<BenchmarkJob['job_spec']>
  plan: JobPlan
  settings: Record<string, unknown>
  warnings: JobWarning[]
}

export const profileOf = ({ agent_environment }: AgentConfig): RunProfile => ({
  envVars: agent_environment?.environment_variables ?? {},
  secrets: agent_environment?.secrets ?? {},
})

/** Unspecified: the maximum number of trials per job. */
export const maxTrialsPerJob = 100_000

/** Unspecified: the maximum number of problems in one message. */
const maxProblems = 50

export const planError = (problems: readonly FieldProblem[]): ServiceError => {
  const messages = problems.slice(0, maxProblems).map(({ field, message }) => `${field}: ${message}`)
  const more = problems.length - messages.length
  return new ServiceError('invalid_argument', [...messages, ...(more > 0 ? [`and ${more} more`] : [])].join('\n'), {
    field: problems[0]?.field ?? 'spec',
    shouldRetry: false,
  })
}

/** Failures that a retry would hardly change; Harbor's list. */
export const notRetriedByDefault = [
  'AgentTimeoutError',
  'VerifierTimeoutError',
  'RewardFileNotFoundError',
  'RewardFileEmptyError',
  'VerifierOutputParseError',
  'ApiUsageLimitError',
  'AgentSafetyRefusalError',
  'AgentAuthenticationError',
  'ModelNotFoundError',
]

/** `retries`: retries so far. A canceled trial is never retried. */
export const isRetried = (retry: RetryPolicy, exceptionType: string, retries: number): boolean =>
  retries < retry.maxRetries &&
  exceptionType !== 'CancelledError' &&
  !retry.exclude.includes(exceptionType) &&
  (retry.include?.includes(exceptionType) ?? true)

export const retryDelaySeconds = (
  { minWaitSeconds, waitMultiplier, maxWaitSeconds }: RetryPolicy,
  retries: number,
): number => Math.min(minWaitSeconds * waitMultiplier ** retries, maxWaitSeconds)
