import {
  changeRules,
  lossesFirst,
  metricText,
  type NameOf,
  runNames,
  sameAgentJob,
  truncate,
} from '#lib/protocol/report-words.ts'
import type { ComparedPair, CompareReport, ScenarioChange } from '#lib/protocol/reports.ts'
import { maskText } from '#lib/protocol/secrets.ts'
import type { JudgedAgent } from '#lib/statistics/figures.ts'
import { costPlot } from './cost-plot.ts'
import { htmlDocument, type Provenance, section, timeText } from './document.ts'
import {
  agentTable,
  durationText,
  groupSection,
  metricSection,
  missingScenarios,
  pairTable,
  scoreFacts,
} from './figures.ts'
import { exclusionSection, labelSection } from './marks.ts'
import { html, type Markup } from './markup.ts'
import { scenarioGrid } from './scenario-grid.ts'
import { cutList } from './table.ts'

export const compareHtml = (report: CompareReport, judged: readonly JudgedAgent[], provenance: Provenance): string => {
  const { jobs, pairs } = report
  const name = runNames(report)
  const baselineJob = sameAgentJob(report)
  const other = (pair: ComparedPair) => {
    const job = baselineJob(pair)
    return job === undefined ? name(pair.b) : `the same in ${job}`
  }
  const sorted = pairs.toSorted(lossesFirst)
  const unexcluded = report.exclusions?.without ?? null
  const baseline =
    jobs.find(({ id }) => id === report.baseline)?.name ??
    report.agents.filter(({ benchmark_run_id }) => benchmark_run_id === report.baseline).map(name)[0]
  return htmlDocument({
    kind: 'Comparison',
    title: truncate(jobs.map((job) => job.name).join(' vs '), 300),
    facts: [
      ...(baseline === undefined ? [] : [['Baseline', truncate(baseline)] as const]),
      ...(report.complete ? [] : [['State', 'incomplete'] as const]),
      ...scoreFacts(report),
    ],
    verdict: report.verdict,
    sections: [
      report.gate &&
        html`<section class="verdict gate ${report.gate.passed ? 'ok' : 'danger'}" aria-label="Gate"><p class="lead">${report.gate.passed ? 'Gate passed' : 'Gate failed'}</p><p>${report.gate.sentence}</p></section>`,
      pairs.length === 0
        ? null
        : section(
            'Differences from the baseline',
            pairTable('Largest loss first', sorted, report.metric, name, (pair) => other(pair as ComparedPair)),
          ),
      section('All runs', agentTable(report, name)),
      metricSection(report, name),
      groupSection(report, name),
      costPlot(report, name),
      changes(sorted, report.metric, name),
      report.incomparable.length + report.not_reported.length === 0
        ? null
        : section(
            'Differences between the jobs',
            html`<ul>${report.incomparable.map(({ text }) => html`<li>${truncate(maskText(text), 600)}</li>`)}${report.not_reported.length > 0 && html`<li>Not reported by all jobs: ${report.not_reported.join(', ')}</li>`}</ul>`,
          ),
      scenarioGrid(judged, judged.map(name), report.rule, report),
      missingScenarios(report.excluded_scenarios, name),
      exclusionSection(
        report,
        report.agents,
        name,
        unexcluded && agentTable({ ...report, agents: unexcluded.agents }, name),
        unexcluded &&
          pairTable('Largest loss first', unexcluded.pairs.toSorted(lossesFirst), report.metric, name, (pair) =>
            other(pair as ComparedPair),
          ),
      ),
      labelSection(report, report.agents, name),
      section(
        'Jobs',
        html`<ul>${jobs.map((job) => html`<li>${truncate(job.name)} <span class="muted">${job.state}, created ${timeText(job.create_time_ms)}</span></li>`)}</ul>`,
      ),
    ],
    notes: report.notes,
    runs: report.agents.map((agent) => ({ id: agent.benchmark_run_id, label: name(agent) })),
    provenance,
  })
}

const titles: Record<keyof typeof changeRules, string> = {
  new_failures: 'New failures',
  worse: 'Worse',
  new_passes: 'New passes',
  better: 'Better',
  still_failing: 'Still failing',
  slower: 'Slower',
}

const maxListed = 100

const changes = (pairs: readonly ComparedPair[], metric: string | null, name: NameOf): Markup | null => {
  const parts = pairs.flatMap((pair) => {
    const kinds = (Object.keys(titles) as (keyof typeof titles)[]).filter((kind) => (pair[kind] ?? []).length > 0)
    return kinds.length === 0
      ? []
      : [
          html`<h3>${name(pair.a)} vs ${name(pair.b)}</h3>`,
          ...kinds.map((kind) => {
            const changed = pair[kind] ?? []
            return html`<p><b>${titles[kind]}: ${changed.length} of ${pair.n}</b> <span class="muted">${changeRules[kind]}</span></p>${cutList(changed, maxListed, kind === 'slower' ? durations : scores(metric))}`
          }),
        ]
  })
  return parts.length === 0 ? null : section('Changed scenarios', ...parts)
}

const scores =
  (metric: string | null) =>
  ({ scenario_name, before, after }: ScenarioChange) =>
    html`${truncate(scenario_name)} <span class="muted">${metricText(metric, before)} to ${metricText(metric, after)}</span>`

const durations = ({ scenario_name, duration_before_ms, duration_after_ms }: ScenarioChange) =>
  html`${truncate(scenario_name)} <span class="muted">${durationText(duration_before_ms ?? 0)} to ${durationText(duration_after_ms ?? 0)}</span>`
