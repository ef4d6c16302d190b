import type { ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import type { FailureRule } from '#lib/protocol/reports.ts'
import { defaultDirection } from '#lib/statistics/metrics.ts'
import type { JobView } from '../job/search-params.ts'
import type { AgentRow } from '../job-figures.ts'
import { type AttemptFilter, environmentDiffers, type GridCell, otherGroup, type ScenarioRow } from './scenario-grid.ts'

export type GridLine =
  | { kind: 'scenario'; key: string; row: ScenarioRow }
  | { kind: 'group'; key: string; name: string; rows: readonly ScenarioRow[] }

export const gridLines = (rows: readonly ScenarioRow[], view: JobView, filter?: AttemptFilter): GridLine[] => {
  const shown = rows.filter((row) => matches(row, view) && (!filter || hasAttempt(row, filter))).sort(byOrder(view))
  if (view.group === undefined) return shown.map(lineOf)
  const { of, rest } = groupingOf(view.group)
  return [...Map.groupBy(shown, of)]
    .sort(([a], [b]) => Number(a === rest) - Number(b === rest) || collator.compare(a, b))
    .flatMap(([name, members]): GridLine[] => [
      { kind: 'group', key: `group ${name}`, name, rows: members },
      ...members.map(lineOf),
    ])
}

const lineOf = (row: ScenarioRow): GridLine => ({ kind: 'scenario', key: row.id, row })

const hasAttempt = ({ cells }: ScenarioRow, filter: AttemptFilter): boolean =>
  cells.some(({ attempts }, at) => attempts.some((attempt) => filter(attempt, at)))

const matches = (row: ScenarioRow, view: JobView): boolean => {
  const text = view.search?.trim().toLowerCase()
  return (
    (!text || row.name.toLowerCase().includes(text) || row.id.toLowerCase().includes(text)) &&
    (view.only !== 'disagreeing' || hasDisagreement(row, view.failures ?? 'zero')) &&
    (view.environment !== 'same' || !row.cells.some(environmentDiffers)) &&
    ((!view.state && !view.score && view.environment !== 'differs') ||
      row.cells.some((cell) => cellMatches(cell, view)))
  )
}

const hasDisagreement = (row: ScenarioRow, rule: FailureRule): boolean =>
  (row.spread[rule] ?? 0) > 0 || row.n_disagreeing > 0

const cellMatches = (cell: GridCell, { state, score, environment, failures = 'zero' }: JobView): boolean =>
  (environment !== 'differs' || environmentDiffers(cell)) &&
  (!state || (state === 'none' ? cell.state === null : cell.attempts.some((each) => each.state === state))) &&
  (!score || scoreKind(cell, failures) === score)

const scoreKind = ({ score, passes }: GridCell, rule: FailureRule): NonNullable<JobView['score']> =>
  score[rule] === null ? 'none' : passes[rule] ? 'pass' : score[rule] === 0 ? 'zero' : 'partial'

/** Shared, as creating a collator is slower than sorting a thousand names. */
const collator = new Intl.Collator('en', { numeric: true })

type Key = (row: ScenarioRow) => number | null

const byOrder = ({
  sort = 'disagreement',
  failures = 'zero',
  metric,
  direction = defaultDirection(metric),
}: JobView) => {
  const meanOf: Key = (row) => row.mean[failures]
  const mean = direction === 'lower' ? descending(meanOf) : meanOf
  if (sort === 'name') return byKeys()
  if (sort === 'hardest') return byKeys(mean)
  if (sort === 'easiest') return byKeys(descending(mean))
  if (sort === 'slowest') return byKeys(descending(({ duration_ms }) => duration_ms))
  if (sort === 'disagreement')
    return byKeys(
      descending((row) => row.spread[failures]),
      descending((row) => row.n_disagreeing),
      mean,
    )
  const isDescending = sort.startsWith('-')
  const at = Number(sort.slice(isDescending ? 2 : 1))
  const score: Key = (row) => row.cells[at]?.score[failures] ?? null
  return byKeys(isDescending ? descending(score) : score)
}

const descending =
  (key: Key): Key =>
  (row) => {
    const value = key(row)
    return value === null ? null : -value
  }

const byKeys =
  (...keys: readonly Key[]) =>
  (a: ScenarioRow, b: ScenarioRow): number => {
    for (const key of keys) {
      const [one, other] = [key(a), key(b)]
      if (one === other) continue
      if (one === null || other === null) return one === null ? 1 : -1
      return one - other
    }
    return collator.compare(a.name, b.name)
  }

interface Grouping {
  of: (row: ScenarioRow) => string
  rest: string
}

const groupingOf = (group: string | undefined): Grouping => {
  const key = metadataKeyOf(group)
  if (key === null) return { of: (row) => row.group, rest: otherGroup }
  const rest = `without ${key}`
  return {
    of: ({ metadata }) => metadata?.[key] ?? rest,
    rest,
  }
}

export const metadataKeyOf = (group: string | undefined): string | null =>
  group === undefined || group === 'prefix'
    ? null
    : group.startsWith(metadataPrefix)
      ? group.slice(metadataPrefix.length)
      : group

export const metadataPrefix = 'metadata.'

export const groupingKeys = (rows: readonly Pick<ScenarioRow, 'metadata'>[]): string[] => {
  const values = new Map<string, Set<string>>()
  for (const { metadata } of rows)
    for (const [key, value] of Object.entries(metadata ?? {}))
      values.set(key, (values.get(key) ?? new Set()).add(value))
  const without = (key: string) => rows.some(({ metadata }) => metadata?.[key] === undefined)
  return [...values]
    .filter(([key, { size }]) => size < rows.length && (size > 1 || without(key)))
    .map(([key]) => key)
    .sort()
}

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
  const scenario = at === -1 ? scenarios[0] : scenarios[at + step]
  return scenario === undefined ? null : { scenario, run: agents[column]?.key, attempt: undefined }
}
