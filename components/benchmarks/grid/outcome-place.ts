import type { ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import type { JobView } from '../job/search-params.ts'
import type { AgentRow } from '../job-figures.ts'
import type { GridLine } from './grid-view.ts'
import type { ScenarioRow } from './scenario-grid.ts'

/** The outcome an address names: an agent's attempts at a scenario, and which of them is looked at. */
export interface OutcomePlace {
  row: ScenarioRow
  agent: AgentRow
  column: number
  attempts: readonly ScenarioOutcome[]
  /** From 1. */
  attempt: number
}

/** Null when the address names none, or one the job does not have. */
export const outcomePlace = (
  { scenario, run, attempt = 1 }: JobView,
  rows: readonly ScenarioRow[],
  agents: readonly AgentRow[],
): OutcomePlace | null => {
  if (scenario === undefined) return null
  const hasIt = ({ scenario_definition_id }: ScenarioOutcome) => scenario_definition_id === scenario
  const row =
    rows.find(({ id }) => id === scenario) ?? rows.find(({ cells }) => cells.some((each) => each.attempts.some(hasIt)))
  const column = agents.findIndex(({ key }) => key === run)
  const agent = agents[column]
  if (!row || !agent) return null
  const attempts = row.cells[column]?.attempts ?? []
  // Where each attempt has an id of its own, the id tells which it is.
  const named = row.id === scenario ? attempt : Math.max(1, attempts.findIndex(hasIt) + 1)
  return { row, agent, column, attempts, attempt: Math.min(named, Math.max(1, attempts.length)) }
}

export type Neighbour = 'up' | 'down' | 'left' | 'right'

/** The part of the address that opens the outcome beside one: the scenario above or below in the grid, the next agent. */
export const neighborOf = (
  { row, column }: OutcomePlace,
  direction: Neighbour,
  lines: readonly GridLine[],
  agents: readonly AgentRow[],
): Pick<JobView, 'scenario' | 'run' | 'attempt'> | null => {
  const step = direction === 'up' || direction === 'left' ? -1 : 1
  if (direction === 'left' || direction === 'right') {
    const agent = agents[column + step]
    return agent ? { scenario: row.id, run: agent.key, attempt: undefined } : null
  }
  const scenarios = lines.flatMap((line) => (line.kind === 'scenario' ? [line.row.id] : []))
  const at = scenarios.indexOf(row.id)
  // One that the filters do not show leads to the first that they do.
  const scenario = at === -1 ? scenarios[0] : scenarios[at + step]
  return scenario === undefined ? null : { scenario, run: agents[column]?.key, attempt: undefined }
}
