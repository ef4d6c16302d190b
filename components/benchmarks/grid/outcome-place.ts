import type { ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import type { JobView } from '../job/search-params.ts'
import type { AgentRow } from '../job-figures.ts'
import type { GridLine } from './grid-view.ts'
import type { ScenarioRow } from './scenario-grid.ts'

/** The outcome in the address: an agent's attempts at a scenario and the selected one. */
export interface OutcomePlace {
  row: ScenarioRow
  agent: AgentRow
  column: number
  attempts: readonly ScenarioOutcome[]
  attempt: number
}

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
  // If attempts have their own ids, the id selects the attempt.
  const named = row.id === scenario ? attempt : Math.max(1, attempts.findIndex(hasIt) + 1)
  return { row, agent, column, attempts, attempt: Math.min(named, Math.max(1, attempts.length)) }
}

export type Direction = 'up' | 'down' | 'left' | 'right'

export const adjacentOutcome = (
  { row, column }: OutcomePlace,
  direction: Direction,
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
  // From a filtered-out scenario, go to the first visible one.
  const scenario = at === -1 ? scenarios[0] : scenarios[at + step]
  return scenario === undefined ? null : { scenario, run: agents[column]?.key, attempt: undefined }
}
