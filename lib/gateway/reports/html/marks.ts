import { reasonLabels } from '#lib/protocol/marks.ts'
import { exclusionScope, type NameOf, truncate } from '#lib/protocol/report-words.ts'
import type { AgentIdentity, LabelCount, Report, ReportedExclusion } from '#lib/protocol/reports.ts'
import { maskText } from '#lib/protocol/secrets.ts'
import { section, timeText } from './document.ts'
import { countText } from './figures.ts'
import { html, type Markup } from './markup.ts'
import { tableOf } from './table.ts'

const maxListed = 200

/** What is excluded, and `tables` with the figures if it weren't. */
export const exclusionSection = (
  { exclusions }: Pick<Report, 'exclusions'>,
  agents: readonly AgentIdentity[],
  name: NameOf,
  ...tables: readonly (Markup | null)[]
): Markup | null => {
  if (exclusions === null) return null
  const { rule, items, without } = exclusions
  return section(
    'Exclusions',
    html`<p>${rule}</p>`,
    tableOf<ReportedExclusion>(
      items.length > maxListed ? `The first ${maxListed} of ${countText(items.length)}` : 'Oldest first',
      [
        {
          head: 'Scenario',
          cell: (item) =>
            html`${truncate(item.scenario_name)}<span class="sub">${exclusionScope(item, agents, name)}</span>`,
          kind: 'name',
        },
        {
          head: 'Attempts',
          cell: ({ n_attempts }) => (n_attempts === 0 ? 'no match' : countText(n_attempts)),
          kind: 'n',
        },
        {
          head: 'Reason',
          cell: ({ reason, note }) =>
            html`${reasonLabels[reason]}${note !== '' && html`<span class="sub">${maskText(note)}</span>`}`,
        },
        { head: 'By', cell: ({ by, at_ms }) => html`${by}<span class="sub">${timeText(at_ms)}</span>` },
      ],
      items.slice(0, maxListed),
    ),
    without && html`<h3>With nothing excluded</h3>${without.verdict && html`<p>${without.verdict.lead}</p>`}${tables}`,
  )
}

export const labelSection = (
  { labels }: Pick<Report, 'labels'>,
  agents: readonly AgentIdentity[],
  name: NameOf,
): Markup | null => {
  if (labels.length === 0) return null
  const names = new Map(agents.map((agent) => [agent.benchmark_run_id, name(agent)]))
  return section(
    'Labels',
    tableOf<LabelCount>(
      "Labels don't affect any figure",
      [
        { head: 'Label', cell: ({ label }) => label, kind: 'name' },
        { head: 'Attempts', cell: ({ n_attempts }) => countText(n_attempts), kind: 'n' },
        {
          head: 'By agent',
          cell: ({ agents }) =>
            agents.map((each) => `${names.get(each.benchmark_run_id) ?? ''} ${countText(each.n)}`).join(', '),
        },
      ],
      labels,
    ),
  )
}
