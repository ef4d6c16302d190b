import {
  byMean,
  countOf,
  type NameOf,
  namesOf,
  sortPairs,
  threeDecimals,
  truncate,
} from '#lib/protocol/report-words.ts'
import type { AgentFigures, Report } from '#lib/protocol/reports.ts'
import { maskText } from '#lib/protocol/secrets.ts'
import type { JudgedAgent } from '#lib/statistics/figures.ts'
import { costPlot } from './cost-plot.ts'
import { htmlDocument, type Provenance, section, timeText } from './document.ts'
import {
  agentTable,
  countText,
  groupSection,
  metricSection,
  missingScenarios,
  pairTable,
  scoreFacts,
} from './figures.ts'
import { exclusionSection, labelSection } from './marks.ts'
import { html, type Markup } from './markup.ts'
import { scenarioGrid } from './scenario-grid.ts'
import { tableOf } from './table.ts'

const maxOpenPairs = 12
const maxFailures = 10

const failures = ({ failure_groups: groups, agents }: Report, name: NameOf): Markup | null => {
  const names = new Map(agents.map((agent) => [agent.benchmark_run_id, name(agent)]))
  return groups.length === 0
    ? null
    : section(
        'Failures',
        tableOf(
          groups.length > maxFailures
            ? `The first ${maxFailures} of ${countOf(groups.length, 'group')}, most points lost first`
            : 'Most points lost first',
          [
            {
              head: 'Failure',
              cell: ({ title, message }) =>
                html`${truncate(maskText(title))}<span class="sub">${truncate(maskText(message), 300)}</span>`,
              kind: 'name',
            },
            { head: 'Attempts', cell: ({ n_attempts }) => countText(n_attempts), kind: 'n' },
            { head: 'Scenarios', cell: ({ n_scenarios }) => countText(n_scenarios), kind: 'n' },
            { head: 'Points lost', cell: ({ points }) => (points === null ? null : threeDecimals(points)), kind: 'n' },
            {
              head: 'By agent',
              cell: (group) =>
                group.agents
                  .toSorted((a, b) => b.n_attempts - a.n_attempts)
                  .map(({ benchmark_run_id: id, n_attempts }) => `${names.get(id) ?? id} ${countText(n_attempts)}`)
                  .join(', '),
            },
          ],
          groups.slice(0, maxFailures),
        ),
      )
}

const without = ({ exclusions, ...report }: Report, name: NameOf) => {
  const { agents, pairs } = exclusions?.without ?? { agents: [], pairs: [] }
  return [
    agentTable({ ...report, agents: byRank(agents, report.lower_is_better) }, name),
    pairs.length === 0 ? null : pairTable(countOf(pairs.length, 'pair'), sortPairs(pairs), report.metric, name),
  ]
}

const byRank = (agents: readonly AgentFigures[], isLowerBetter: boolean) =>
  agents.toSorted(
    byMean(
      ({ agent_name }) => agent_name,
      (figures) => figures,
      isLowerBetter,
    ),
  )

/** `judged`: the agents whose outcomes the report counts. */
export const jobHtml = (report: Report, judged: readonly JudgedAgent[], provenance: Provenance): string => {
  const { job, pairs } = report
  const name = namesOf(report.agents)
  const agents = byRank(report.agents, report.lower_is_better)
  const sorted = sortPairs(pairs)
  const folded = sorted.slice(maxOpenPairs)
  return htmlDocument({
    kind: 'Benchmark job',
    title: job.name,
    facts: [
      ['State', report.complete ? job.state : `${job.state}, incomplete`],
      ['Created', timeText(job.create_time_ms)],
      ...(job.planned_scenarios === null ? [] : [['Scenarios', `${job.planned_scenarios}`] as const]),
      ...(job.planned_attempts === null ? [] : [['Attempts', `${job.planned_attempts}`] as const]),
      ...scoreFacts(report),
    ],
    verdict: report.verdict,
    sections: [
      section('Agents', agentTable({ ...report, agents }, name)),
      failures(report, name),
      pairs.length === 0
        ? null
        : section(
            'Differences',
            pairTable(countOf(pairs.length, 'pair'), sorted.slice(0, maxOpenPairs), report.metric, name),
            folded.length === 0
              ? null
              : html`<details><summary>${countOf(folded.length, 'more pair')}</summary>${pairTable('Smaller differences and controls', folded, report.metric, name)}</details>`,
          ),
      metricSection(report, name),
      groupSection(report, name),
      costPlot(report, name),
      scenarioGrid(judged, judged.map(name), report.rule, report),
      missingScenarios(report.excluded_scenarios, name),
      exclusionSection(report, report.agents, name, ...without(report, name)),
      labelSection(report, report.agents, name),
    ],
    notes: report.notes,
    runs: report.agents.map((agent) => ({ id: agent.benchmark_run_id, label: name(agent) })),
    provenance,
  })
}
