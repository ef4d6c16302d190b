import type { FailureRule } from '#lib/protocol/reports.ts'
import type { JobView } from '../job/search-params.ts'
import { groupingOf } from './grouping.ts'
import { environmentDiffers, type GridCell, type ScenarioRow } from './scenario-grid.ts'

export type GridLine =
  | { kind: 'scenario'; key: string; row: ScenarioRow }
  | { kind: 'group'; key: string; name: string; rows: readonly ScenarioRow[] }

/** The scenarios that a view asks for, in its order; in groups, each after a line of its own. */
export const gridLines = (rows: readonly ScenarioRow[], view: JobView): GridLine[] => {
  const shown = rows.filter((row) => isAsked(row, view)).sort(byOrder(view))
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

const isAsked = (row: ScenarioRow, view: JobView): boolean => {
  const text = view.search?.trim().toLowerCase()
  return (
    (!text || row.name.toLowerCase().includes(text) || row.id.toLowerCase().includes(text)) &&
    (view.only !== 'disagreeing' || isDisagreed(row, view.failures ?? 'zero')) &&
    (view.environment !== 'same' || !row.cells.some(environmentDiffers)) &&
    ((!view.state && !view.score && view.environment !== 'differs') ||
      row.cells.some((cell) => isCellAsked(cell, view)))
  )
}

/** Whether agents, or the attempts of one, differ at a scenario. */
const isDisagreed = (row: ScenarioRow, rule: FailureRule): boolean =>
  (row.spread[rule] ?? 0) > 0 || row.n_disagreeing > 0

const isCellAsked = (cell: GridCell, { state, score, environment, failures = 'zero' }: JobView): boolean =>
  (environment !== 'differs' || environmentDiffers(cell)) &&
  (!state || (state === 'none' ? cell.state === null : cell.attempts.some((each) => each.state === state))) &&
  (!score || scoreKind(cell, failures) === score)

const scoreKind = ({ score, passes }: GridCell, rule: FailureRule): NonNullable<JobView['score']> =>
  score[rule] === null ? 'none' : passes[rule] ? 'pass' : score[rule] === 0 ? 'zero' : 'partial'

/** One for all comparisons: to make one takes longer than to sort a thousand names with it. */
const collator = new Intl.Collator('en', { numeric: true })

type Key = (row: ScenarioRow) => number | null

const byOrder = ({ sort = 'disagreement', failures = 'zero' }: JobView) => {
  const mean: Key = (row) => row.mean[failures]
  if (sort === 'name') return byKeys()
  if (sort === 'hardest') return byKeys(mean)
  if (sort === 'easiest') return byKeys(falling(mean))
  if (sort === 'slowest') return byKeys(falling(({ duration_ms }) => duration_ms))
  if (sort === 'disagreement')
    return byKeys(
      falling((row) => row.spread[failures]),
      falling((row) => row.n_disagreeing),
      mean,
    )
  const isFalling = sort.startsWith('-')
  const at = Number(sort.slice(isFalling ? 2 : 1))
  const score: Key = (row) => row.cells[at]?.score[failures] ?? null
  return byKeys(isFalling ? falling(score) : score)
}

const falling =
  (key: Key): Key =>
  (row) => {
    const value = key(row)
    return value === null ? null : -value
  }

/** By each key in turn, lowest first and what has none last; then by name. */
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
