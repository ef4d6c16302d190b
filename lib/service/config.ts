import type { EngineChoice } from './engine/choose-engine.ts'
import type { Pressure } from './evictions/pressure.ts'
import type { ApiKey } from './http/auth.ts'

export interface ServiceConfig {
  host: string
  port: number
  dataDir: string
  /** Default: one key for the account `local`, stored in the data folder. */
  keys?: readonly ApiKey[]
  /** Rejects keys of a second account without isolation. Turned off only in tests. */
  oneAccountUnlessIsolated: boolean
  allowHosts: readonly string[]
  isolation: EngineChoice['isolation']
  engine?: EngineChoice['engine']
  swarm?: EngineChoice['swarm']
  image: string
  engineVariables: EngineChoice['engineVariables']
  privateNetwork: boolean
  limits: AccountLimits
  /** Storage per account. Default: a share of the disk; 0: unlimited. */
  maxStorageBytes?: number
  pressure: Pressure
  /** Address of metrics and readiness checks. */
  metrics?: { host: string; port: number }
  /** Logs each request. */
  logRequests?: boolean
  /** 0: ended data never expires. Default: 30 days. */
  keepEndedSeconds?: number
  datasets: readonly string[]
  strictEnvironments: boolean
  maxEnvironmentBytes: number
  /** Default: what the cluster has room for; without one, `defaultMaxTrials`. */
  maxTrials?: number
  agents: Readonly<Record<string, string>>
  validateResponses: boolean
}

/** Unspecified: total size of built environments, enough for about 100. */
export const defaultMaxEnvironmentBytes = 20 * 2 ** 30

/** Unspecified: image of container devboxes that don't choose one. */
export const defaultImage = 'debian:bookworm'

/** Unspecified: default number of concurrent trials on one host. */
export const defaultMaxTrials = 16

export interface AccountLimits {
  devboxes: number
  executions: number
  terminals: number
}

/** Unspecified: far above interactive use and below what a host can handle. */
export const defaultLimits: AccountLimits = { devboxes: 256, executions: 1024, terminals: 256 }

/**
 * Unspecified: what a devbox of a swarm reserves. Most devboxes wait for their users most of the time, and their limits
 * hold in any case.
 */
export const [defaultReservedCpuPercent, defaultReservedMemoryPercent] = [10, 50]
