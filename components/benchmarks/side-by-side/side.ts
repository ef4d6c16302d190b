import type { BenchmarkJob, ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import type { AgentRow } from '../job-figures.ts'
import type { SideRef } from './search-params.ts'

/** One side: an agent of a job and its attempt at the scenario. */
export interface Side {
  ref: SideRef
  job: BenchmarkJob
  agent: AgentRow
  name: string
  attempts: readonly ScenarioOutcome[]
  attempt: number
  outcome: ScenarioOutcome | undefined
  isExcluded: boolean
}
