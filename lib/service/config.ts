import type { Pressure } from './evictions/pressure.ts'
import type { ApiKey } from './http/auth.ts'

export interface ServiceConfig {
  host: string
  /** 0 takes any free port. */
  port: number
  dataDir: string
  /** Absent: one key for the account `local`, kept in the data folder. */
  keys?: readonly ApiKey[]
  /** Whether a second account is refused where nothing keeps devboxes apart. Only tests of other things do without. */
  oneAccountUnlessIsolated: boolean
  /** Names besides the loopback ones under which the service may be called. */
  allowHosts: readonly string[]
  /** How devboxes are kept apart from this machine; `auto` takes bubblewrap where it works. */
  isolation: 'auto' | 'bubblewrap' | 'none'
  /** Whether devboxes reach the private networks that this machine reaches. */
  privateNetwork: boolean
  limits: AccountLimits
  /** What one account may keep on the disk; absent: a share of it, 0: any amount. */
  maxStorageBytes?: number
  pressure: Pressure
  /** Folders that job files may take tasks and data sets from. */
  datasets: readonly string[]
  /** Whether a trial fails whose environment is not what its task asks for; else its outcome says so. */
  strictEnvironments: boolean
  /** What built environments of tasks may take on the disk together; 0 for no bound. */
  maxEnvironmentBytes: number
  /** How many trials of all benchmark jobs run at once. */
  maxTrials: number
  /** Commands of agents, by the names that jobs call them by. */
  agents: Readonly<Record<string, string>>
  /** Checks every answer against the contract before it leaves: for tests and development. */
  validateAnswers: boolean
}

/** Unspecified: what built environments take on the disk together. About a hundred that install a few programs each. */
export const defaultMaxEnvironmentBytes = 20 * 2 ** 30

/** Unspecified: how many trials run at once unless the operator says otherwise. */
export const defaultMaxTrials = 16

/** How many of each one account may have at once. */
export interface AccountLimits {
  /** Devboxes that have not ended. */
  devboxes: number
  /** Commands that wait or run. */
  executions: number
  /** Terminal sessions. */
  terminals: number
}

/** Unspecified: the caps. Far above what one machine's users start by hand, and below what a machine can hold. */
export const defaultLimits: AccountLimits = { devboxes: 256, executions: 1024, terminals: 256 }
