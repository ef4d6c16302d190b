import { byMean, countOf, namesOf, sortPairs, threeDecimals, truncate } from '#lib/protocol/report-words.ts'
import type { FailureGroupFigures, Report } from '#lib/protocol/reports.ts'
import type { JudgedAgent } from '#lib/statistics/figures.ts'
import { htmlDocument, type Provenance, section, timeText } from './document.ts'
import { agentTable, missingScenarios, pairTable, scoreFacts } from './figures.ts'
import { html } from './markup.ts'
import { scenarioGrid } from './scenario-grid.ts'
import { tableOf } from './table.ts'

const maxOpenPairs = 12

/** `judged`: the agents whose outcomes the report counts. */
export const jobHtml = (report: Report, judged: readonly JudgedAgent[], provenance: Provenance): string => {
  const { job, pairs } = report
  const name = namesOf(report.agents)
  const agents = report.agents.toSorted(
    byMean(
      ({ agent_name }) => agent_name,
      (figures) => figures,
    ),
  )
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
      failureSection(report.failure_groups),
      pairs.length === 0
        ? null
        : section(
            'Differences',
            pairTable(countOf(pairs.length, 'pair'), sorted.slice(0, maxOpenPairs), name),
            folded.length === 0
              ? null
              : html`<details><summary>${countOf(folded.length, 'more pair')}</summary>${pairTable('Smaller differences and controls', folded, name)}</details>`,
          ),
      scenarioGrid(judged, judged.map(name), report.rule, report),
      missingScenarios(report.excluded_scenarios, name),
    ],
    notes: report.notes,
    runs: report.agents.map((agent) => ({ id: agent.benchmark_run_id, label: name(agent) })),
    provenance,
  })
}

const maxFailureGroups = 20

const failureSection = (groups: readonly FailureGroupFigures[]) =>
  groups.length === 0
    ? null
    : section(
        'Failures',
        tableOf<FailureGroupFigures>(
          groups.length > maxFailureGroups
            ? `${maxFailureGroups} of ${groups.length} groups, most points lost first`
            : 'Most points lost first',
          [
            {
              head: 'Failure',
              cell: ({ title, message }) => truncate(message === '' ? title : `${title}: ${message}`, 300),
            },
            { head: 'Attempts', kind: 'n', cell: ({ n_attempts }) => `${n_attempts}` },
            { head: 'Scenarios', kind: 'n', cell: ({ n_scenarios }) => `${n_scenarios}` },
            { head: 'Points lost', kind: 'n', cell: ({ points }) => (points === null ? null : threeDecimals(points)) },
          ],
          groups.slice(0, maxFailureGroups),
        ),
      )
