import { threeDecimals, truncate } from '#lib/protocol/report-words.ts'
import type { FailureRule, ScoreScale } from '#lib/protocol/reports.ts'
import type { JudgedAgent } from '#lib/statistics/figures.ts'
import { countingRule, defaultDirection } from '#lib/statistics/metrics.ts'
import { byName, type Tally, talliesOf } from '#lib/statistics/tallies.ts'
import { section } from './document.ts'
import { axisOf, countText } from './figures.ts'
import { html, type Markup } from './markup.ts'

const maxOpen = 200
/** Unspecified: keeps the file below 5 MB whatever the names. */
const maxGridChars = 3_000_000

interface Row {
  name: string
  cells: readonly { tally: Tally | undefined; states: ReadonlySet<string> }[]
}

/** Scenario by agent, in order of names. The rows after the first 200 are folded. */
export const scenarioGrid = (
  agents: readonly JudgedAgent[],
  labels: readonly string[],
  rule: FailureRule,
  scale: Pick<ScoreScale, 'is_unit_range'>,
): Markup | null => {
  const rows = rowsOf(agents, rule)
  if (rows.length === 0) return null
  const axis = axisOf(
    scale,
    rows.flatMap(({ cells }) => cells.flatMap(({ tally }) => tally?.mean ?? [])),
  )
  const shade = (score: number) =>
    `h${Math.round(Math.min(1, Math.max(0, (score - axis.low) / (axis.high - axis.low))) * 10)}`
  const head = html`<thead><tr><th scope="col">Scenario</th>${labels.map((label) => html`<th scope="col" class="n">${shortened(label)}</th>`)}</tr></thead>`
  const lines: Markup[] = []
  let chars = 0
  for (const { name, cells } of rows) {
    const line = html`<tr><th scope="row">${truncate(name)}</th>${cells.map((cell) => cellOf(cell, shade))}</tr>\n`
    chars += line.text.length
    if (chars > maxGridChars) break
    lines.push(line)
  }
  const table = (part: readonly Markup[]) =>
    html`<div class="scroll" tabindex="0"><table class="grid">${head}<tbody>${part}</tbody></table></div>`
  const folded = lines.slice(maxOpen)
  const omitted = rows.length - lines.length
  return section(
    'Scenarios',
    html`<p class="muted">${countText(rows.length)} ${rows.length === 1 ? 'scenario' : 'scenarios'} by agent: mean of the attempts, from ${axis.low} (light) to ${axis.high} (dark).</p>`,
    table(lines.slice(0, maxOpen)),
    folded.length > 0
      ? html`<details><summary>${countText(folded.length)} more scenarios</summary>${table(folded)}</details>`
      : null,
    omitted > 0 ? html`<p>${countText(omitted)} scenarios are left out to limit the size of this file.</p>` : null,
  )
}

const rowsOf = (agents: readonly JudgedAgent[], rule: FailureRule): Row[] => {
  const byAgent = agents.map(({ metric, outcomes }) => ({
    tallies: talliesOf(outcomes, countingRule(rule, metric, defaultDirection(metric))),
    attempts: Map.groupBy(outcomes, ({ scenario_id }) => scenario_id),
  }))
  const scenarios = new Map(
    byAgent.flatMap(({ tallies }) => [...tallies.values()].map((tally) => [tally.scenario_id, tally])),
  )
  return [...scenarios.values()].sort(byName).map(({ scenario_id, scenario_name }) => ({
    name: scenario_name,
    cells: byAgent.map(({ tallies, attempts }) => ({
      tally: tallies.get(scenario_id),
      states: new Set((attempts.get(scenario_id) ?? []).map(({ state }) => state)),
    })),
  }))
}

/** Without the provider of a model: `codex · gpt-5`. */
const shortened = (label: string): string => truncate(label, 80).replace(/ · [^ /]+\//, ' · ')

const stateWords: Record<string, string> = { FAILED: 'failed', TIMEOUT: 'timed out', CANCELED: 'canceled' }

const cellOf = ({ tally, states }: Row['cells'][number], shade: (score: number) => string): Markup => {
  const words = [...states].flatMap((state) => stateWords[state] ?? [])
  const note = words.length > 0 && html`<span class="sub">${words.join(', ')}</span>`
  if (tally?.mean == null) return html`<td class="none">${note || '–'}</td>`
  const n = tally.scores.length
  return html`<td class="${shade(tally.mean)}">${threeDecimals(tally.mean)}${n > 1 && html`<i>×${n}</i>`}${note}</td>`
}
