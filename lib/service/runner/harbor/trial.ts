import type { Devboxes } from '#lib/service/runtime/devbox.ts'
import type { Executions } from '#lib/service/runtime/execution.ts'
import type { SecretStore } from '#lib/service/store/secrets.ts'
import type { Outcome, Rewards } from './outcome.ts'
import type { HarborAgent, HarborScenario, HarborSettings } from './plan.ts'

/** What trials need of the service. */
export interface TrialDeps {
  devboxes: Devboxes
  executions: Executions
  secrets: Pick<SecretStore, 'reveal'>
  isolation: 'bubblewrap' | 'none'
  /** Put in the environment of tools, to find them by when the service has died. */
  serviceId: string
  folderOf: (devboxId: string) => string
}

export const trialPhases = ['environment_setup', 'agent_setup', 'agent_execution', 'verifier'] as const
export type TrialPhase = (typeof trialPhases)[number]

export interface TrialOptions {
  account: string
  scenarioRunId: string
  scenario: HarborScenario
  agent: HarborAgent
  settings: HarborSettings
  /** From 1. */
  attempt: number
  /** Where its logs are to be in the end; what is there from an earlier try is removed first. */
  folder: string
  /** Its abort cancels the trial, which then still resolves. */
  signal: AbortSignal
  /** Called once, as soon as the trial has its devbox. */
  onDevbox?: (devboxId: string) => void
  onPhase?: (phase: TrialPhase) => void
}

/** Raw rewards are as the verifier wrote them; only `score` is cut to 0..1. */
export interface TrialResult extends Outcome {
  rewards: Rewards | null
  startTimeMs: number
  endTimeMs: number
}

/**
 * Runs one attempt of one agent at one task, in a devbox of its own that is gone when this resolves. Never rejects for
 * anything the task, the agent or the devbox did: that is its result.
 */
export type RunTrial = (deps: TrialDeps, options: TrialOptions) => Promise<TrialResult>
