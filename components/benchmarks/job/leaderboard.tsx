import Link from 'next/link'
import type { Column } from '#components/list/column.ts'
import { DataTable } from '#components/list/data-table.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatDurationMs } from '#lib/browser/format.ts'
import { axisFor } from '#lib/protocol/plot-axes.ts'
import { agentLabel, byMean, metricText, repeatSuffixes, threeDecimals } from '#lib/protocol/report-words.ts'
import type { AgentFigures, FailureRule, Report } from '#lib/protocol/reports.ts'
import { isControl } from '#lib/statistics/figures.ts'
import { BenchmarkState } from '../benchmark-state.tsx'
import { agentColumns, hasUsage, MeanHeader, Missing, ScoreWithN, Unknown } from '../figures.tsx'
import { type AgentRow, outcomeCounts } from '../job-figures.ts'
import { AgentLines } from '../score.tsx'
import { axisText, IntervalCell } from './interval-bar.tsx'

interface Row {
  agent: AgentRow
  suffix: string
  figures: AgentFigures | null
  other: AgentFigures | null
  /** Figures that include excluded attempts. */
  withExcluded: AgentFigures | null
}

interface LeaderboardProps {
  agents: readonly AgentRow[]
  report: Report | undefined
  otherFigures: readonly AgentFigures[] | undefined
  rule: FailureRule
  /** Metrics besides the judged one. */
  metrics: readonly string[]
}

export const Leaderboard = ({ agents, report, otherFigures, rule, metrics }: LeaderboardProps) => {
  const find = (all: readonly AgentFigures[] | undefined, { key }: AgentRow) =>
    all?.find(({ benchmark_run_id }) => benchmark_run_id === key) ?? null
  const suffixes = repeatSuffixes(agents.map(agentLabel))
  const rows = agents
    .map(
      (agent, at): Row => ({
        agent,
        suffix: suffixes[at] ?? '',
        figures: find(report?.agents, agent),
        other: find(otherFigures, agent),
        withExcluded: find(report?.exclusions?.without?.agents, agent),
      }),
    )
    .sort(
      byMean(
        ({ agent }) => agent.name,
        ({ figures }) => figures,
        report?.lower_is_better,
      ),
    )
  const hasAttempts = rows.some(({ figures }) => largestOf(figures?.pass_at_k) > 1)
  const hidden = [
    hasAttempts ? 'passes' : 'pass_at_k',
    ...(rows.some(({ figures }) => figures && hasUsage(figures)) ? [] : ['usage']),
  ]
  return (
    <DataTable
      caption="Agents of the job, best mean first, controls last"
      columns={columnsOf(report, rule, metrics).filter(({ id }) => !hidden.includes(id ?? ''))}
      rows={rows}
      rowKey={({ agent }) => agent.key}
    />
  )
}

const largestOf = (byK: Readonly<Record<string, number>> | null | undefined): number =>
  Math.max(0, ...Object.keys(byK ?? {}).map(Number))

/** Labels of the figures under the other rule. */
const otherLabels: Record<FailureRule, string> = { zero: 'excluding failures', leave_out: 'failures as 0' }

const agentFigures = agentColumns<Row>(({ figures }) => figures)

const columnsOf = (report: Report | undefined, rule: FailureRule, metrics: readonly string[]): Column<Row>[] => {
  const axis = axisOf(report)
  const metric = report?.metric ?? null
  return [
    {
      id: 'rank',
      header: () => <span title="A range if differences are not significant">Rank</span>,
      cell: ({ row }) => {
        const { figures } = row.original
        if (figures?.rank_low == null || figures.rank_high == null)
          return (
            <span className="text-muted" title={figures?.reasons.rank_low}>
              –
            </span>
          )
        const { rank_low, rank_high } = figures
        return rank_low === rank_high ? rank_low : `${rank_low}–${rank_high}`
      },
      meta: { priority: 3, width: '4rem', align: 'right' },
    },
    {
      id: 'agent',
      header: 'Agent',
      cell: ({ row }) => <Agent agent={row.original.agent} suffix={row.original.suffix} />,
      meta: { priority: 1, lines: () => 2 },
    },
    {
      id: 'mean',
      header: () => <MeanHeader metric={report?.metric} />,
      cell: ({ row: { original: row } }) => <Mean {...row} rule={rule} metric={metric} />,
      meta: { priority: 2, lines: ({ withExcluded }) => (withExcluded ? 3 : 2), width: '13rem', align: 'right' },
    },
    {
      id: 'interval',
      header: `95% CI, axis ${axisText(metric, axis.low)} to ${axisText(metric, axis.high)}`,
      cell: ({ row }) => {
        const { figures } = row.original
        return (
          figures?.mean != null && (
            <IntervalCell
              value={figures.mean}
              low={figures.ci_low}
              high={figures.ci_high}
              axis={axis}
              metric={metric}
              reason={figures.reasons.ci_low}
              title={methods[figures.method ?? '']}
            />
          )
        )
      },
      meta: { priority: 3, width: '13.5rem' },
    },
    agentFigures.passes('6.5rem'),
    {
      id: 'pass_at_k',
      header: () => <span title="At least one of k attempts passes · all k pass">pass@k · pass^k</span>,
      cell: ({ row }) => {
        const { figures } = row.original
        const k = largestOf(figures?.pass_at_k)
        const [any, all] = [figures?.pass_at_k?.[k], figures?.pass_hat_k?.[k]]
        if (k < 2 || any === undefined)
          return <Missing why={figures?.reasons.pass_at_k ?? 'One attempt per scenario'} />
        return (
          <span title={`k = ${k}: ${allK(figures?.pass_at_k)}`}>
            {threeDecimals(any)} · {all === undefined ? '–' : threeDecimals(all)}{' '}
            <span className="text-muted">(k = {k})</span>
          </span>
        )
      },
      meta: { priority: 3, width: '9rem', align: 'right' },
    },
    ...metrics.map(metricColumn),
    {
      id: 'duration',
      header: () => <span title="Excludes canceled attempts">Median · p95</span>,
      cell: ({ row }) => {
        const { figures } = row.original
        return (
          figures &&
          (figures.duration_median_ms === null ? (
            figures.n_attempts > 0 && <Unknown />
          ) : (
            <span className="block leading-4">
              {formatDurationMs(figures.duration_median_ms)}{' '}
              {figures.duration_p95_ms !== null && (
                <span className="block text-xs leading-4 text-muted">
                  p95 {formatDurationMs(figures.duration_p95_ms)}
                </span>
              )}
            </span>
          ))
        )
      },
      meta: { priority: 3, width: '7rem', align: 'right' },
    },
    agentFigures.usage,
    {
      id: 'counts',
      header: 'Attempts',
      cell: ({ row }) => <Counts agent={row.original.agent} figures={row.original.figures} />,
      meta: { priority: 3, width: '9.5rem', lines: () => 2 },
    },
  ]
}

const metricColumn = (metric: string): Column<Row> => ({
  id: `metric ${metric}`,
  header: () => <MeanHeader metric={metric} />,
  cell: ({ row }) => {
    const { mean, ci_low, ci_high, n_scenarios } = row.original.figures?.metrics[metric] ?? { mean: null }
    if (mean === null) return row.original.figures && <Missing why="No attempt reports it" />
    const hasInterval = ci_low !== null && ci_high !== null
    return (
      <ScoreWithN
        score={metricText(metric, mean)}
        n={n_scenarios}
        title={hasInterval ? `95% CI ${metricText(metric, ci_low)} to ${metricText(metric, ci_high)}` : 'No 95% CI'}
      />
    )
  },
  meta: { priority: 3, width: '9rem', align: 'right' },
})

const axisOf = (report: Report | undefined) =>
  !report || report.is_unit_range
    ? { low: 0, high: 1 }
    : axisFor(report.agents.flatMap(({ mean, ci_low, ci_high }) => [mean ?? 0, ci_low ?? 0, ci_high ?? 0]))

const Mean = ({
  agent,
  figures,
  other,
  withExcluded,
  rule,
  metric,
}: Row & { rule: FailureRule; metric: string | null }) => {
  if (agent.state === 'finished' && !agent.outcome) return <Missing why="No outcome" />
  if (figures === null) return <span className="text-muted">…</span>
  return (
    <span className="block leading-4 @2xl:whitespace-nowrap">
      {figures.mean === null ? (
        <ReportedMean agent={agent} why={figures.reasons.mean} />
      ) : (
        <ScoreWithN
          score={metricText(metric, figures.mean)}
          n={figures.n_scenarios}
          title={`Mean over ${scenarioCounts(figures)}`}
        />
      )}
      {other && <OtherMean label={otherLabels[rule]} figures={other} metric={metric} />}
      {withExcluded && <OtherMean label="with excluded" figures={withExcluded} metric={metric} />}
    </span>
  )
}

interface OtherMeanProps {
  label: string
  figures: AgentFigures
  metric: string | null
}

const OtherMean = ({ label, figures: { mean, n_scenarios }, metric }: OtherMeanProps) => (
  <span className="block text-xs leading-4 text-muted">
    {label}{' '}
    <span className="whitespace-nowrap">
      {mean === null ? 'None' : `${metricText(metric, mean)} (n = ${formatCount(n_scenarios)})`}
    </span>
  </span>
)

const ReportedMean = ({ agent: { outcome }, why }: { agent: Pick<AgentRow, 'outcome'>; why?: string }) => {
  if (outcome?.average_score == null || outcome.scenario_outcomes.length > 0) return <Missing why={why} />
  const { completed, total } = outcomeCounts(outcome)
  return (
    <ScoreWithN
      score={threeDecimals(outcome.average_score)}
      n={`${formatCount(completed)} of ${formatCount(total)}, as reported`}
      title="Mean over completed attempts, as reported by the service"
    />
  )
}

const allK = (byK: Readonly<Record<string, number>> | null | undefined): string =>
  Object.entries(byK ?? {})
    .map(([k, value]) => `pass@${k} ${threeDecimals(value)}`)
    .join(', ')

const scenarioCounts = ({ n_scenarios, n_attempts }: AgentFigures): string =>
  `${formatCount(n_scenarios)} scenarios, ${formatCount(n_attempts)} counted attempts`

const methods: Record<string, string> = {
  wilson: 'Wilson interval: every scenario scores 0 or 1',
  t: 't interval over scenario means',
  z: 'Normal interval over scenario means',
}

const Agent = ({ agent: { name, model, differs, runId, state, run }, suffix }: Pick<Row, 'agent' | 'suffix'>) => {
  const label = (
    <>
      <AgentLines name={`${name}${suffix}`} model={model} differs={differs} isWhole />
      {isControl(name) && <span className="block text-xs leading-4 font-normal text-muted">control, not ranked</span>}
    </>
  )
  return (
    <span className="flex min-w-0 items-center gap-2">
      {runId ? (
        <Link
          href={paths.benchmarkRun(runId)}
          prefetch={false}
          title={`${agentLabel({ name, model, differs })}: open run`}
          className="min-w-0 hover:underline"
        >
          {label}
        </Link>
      ) : (
        <span className="min-w-0">{label}</span>
      )}
      {state !== 'finished' && (
        <BenchmarkState of={runId ? 'run' : 'job'} state={runId ? (run?.state ?? 'running') : 'queued'} />
      )}
    </span>
  )
}

const Counts = ({ agent: { outcome }, figures }: { agent: AgentRow; figures: AgentFigures | null }) => {
  const of = figures ?? { ...outcome, n_cancelled: 0, n_other: 0 }
  const counts: [count: number | undefined, word: string][] = [
    [of.n_completed, 'completed'],
    [of.n_failed, 'failed'],
    [of.n_timeout, 'timed out'],
    [of.n_cancelled, 'canceled'],
    [of.n_other, 'other'],
  ]
  const made = counts.reduce((sum, [count]) => sum + (count ?? 0), 0)
  const planned = figures?.n_planned ?? 0
  const missing = planned > made ? [`${formatCount(made)} of ${formatCount(planned)} planned`] : []
  const [first, ...rest] = [
    ...counts.flatMap(([count, word]) => (count ? [`${formatCount(count)}\u00a0${word}`] : [])),
    ...missing,
  ]
  if (first === undefined) return <span className="text-muted">None</span>
  return (
    <span className="tabular block leading-4">
      {first} {rest.length > 0 && <span className="block text-xs leading-4 text-muted">{rest.join(', ')}</span>}
    </span>
  )
}
