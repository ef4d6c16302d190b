import type { Pressure } from './evictions/pressure.ts'
import type { ApiKey } from './http/auth.ts'

export interface ServiceConfig {
  host: string
  /** 0 picks a free port. */
  port: number
  dataDir: string
  /** Default: one key for the account `local`, stored in the data folder. */
  keys?: readonly ApiKey[]
  /** Rejects keys of a second account without isolation. Turned off only in tests. */
  oneAccountUnlessIsolated: boolean
  /** Additional accepted host names. */
  allowHosts: readonly string[]
  /** `auto` uses bubblewrap if it works. */
  isolation: 'auto' | 'bubblewrap' | 'none'
  /** Allows devboxes to reach private networks. */
  privateNetwork: boolean
  limits: AccountLimits
  /** Storage per account. Default: a share of the disk; 0: unlimited. */
  maxStorageBytes?: number
  pressure: Pressure
  /** Folders that job files may load tasks and datasets from. */
  datasets: readonly string[]
  /** Fails trials whose environment differs from their task's; otherwise the outcome is marked. */
  strictEnvironments: boolean
  /** Total size of built task environments; 0: unlimited. */
  maxEnvironmentBytes: number
  /** Concurrent trials across all jobs. */
  maxTrials: number
  /** Agent commands by name. */
  agents: Readonly<Record<string, string>>
  /** Validates responses against the contract, for tests and development. */
  validateAnswers: boolean
}

/** Unspecified: total size of built environments, enough for about 100. */
export const defaultMaxEnvironmentBytes = 20 * 2 ** 30

/** Unspecified: default number of concurrent trials. */
export const defaultMaxTrials = 16

/** Limits per account. */
export interface AccountLimits {
  /** Active devboxes. */
  devboxes: number
  /** Queued and running commands. */
  executions: number
  terminals: number
}

/** Unspecified: far above interactive use and below what a host can handle. */
export const defaultLimits: AccountLimits = { devboxes: 256, executions: 1024, terminals: 256 }
