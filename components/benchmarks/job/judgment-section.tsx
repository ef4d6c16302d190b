'use client'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { CircleCheck, CircleHelp, Columns3, type LucideIcon as Icon, Scale } from 'lucide-react'
import { memo, useMemo, useState } from 'react'
import type { Column } from '#components/list/column.ts'
import { DataTable } from '#components/list/data-table.tsx'
import type { HowToChange } from '#components/list/use-address.ts'
import { toneClasses } from '#components/ui/badge.tsx'
import { Button } from '#components/ui/button.tsx'
import { Chips } from '#components/ui/choice/chips.tsx'
import { classes } from '#components/ui/classes.ts'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { type BenchmarkJob, hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { roundUp } from '#lib/protocol/plot-axes.ts'
import {
  failureRule,
  labeledAgent,
  labelOf,
  metricLabel,
  metricText,
  passRule,
  sortPairs,
} from '#lib/protocol/report-words.ts'
import type { AgentFigures, AgentIdentity, PairFigures, Report, ReportChoice, Verdict } from '#lib/protocol/reports.ts'
import { isBuiltIn } from '#lib/statistics/metrics.ts'
import { ruleOptions, ScoreChoice } from '../choice.tsx'
import { differenceColumn, significanceColumns } from '../figures.tsx'
import { type AgentRow, shortLabels } from '../job-figures.ts'
import { ReportActions, tablesOf } from '../report-page.tsx'
import { PairLines } from '../score.tsx'
import { axisText, IntervalCell } from './interval-bar.tsx'
import { Leaderboard } from './leaderboard.tsx'
import { benchmarkJobQueries, reportAddress } from './queries.ts'
import type { JobView } from './search-params.ts'

interface JudgmentSectionProps {
  job: BenchmarkJob
  report: UseQueryResult<Report>
  agents: readonly AgentRow[]
  choice: ReportChoice
  columns: string | undefined
  change: (part: Partial<JobView>, how: HowToChange) => void
}

const pollMs = 3000

export const JudgmentSection = memo(({ job, report, agents, choice, columns, change }: JudgmentSectionProps) => {
  const rule = choice.failures
  const other = useJobReport(job, { ...choice, group: undefined, failures: rule === 'zero' ? 'leave_out' : 'zero' })
  const { data } = report
  const others = data?.metrics.filter((metric) => metric !== data.metric) ?? []
  const shown = others.filter((metric) => `,${columns},`.includes(`,${metric},`))
  return (
    <>
      <section aria-label="Verdict">
        {data ? (
          <VerdictBanner verdict={data.verdict} />
        ) : report.error ? null : (
          <p className="min-h-13 text-muted">Computing results…</p>
        )}
        {report.error && !data && <InlineError error={report.error} />}
      </section>
      <section aria-label="Agents" className="space-y-2">
        <div className="flex flex-wrap items-end gap-x-4 gap-y-2">
          <h2 className="text-lg font-medium">Agents</h2>
          <Chips
            legend="Failures"
            value={rule}
            options={ruleOptions}
            onChange={(failures) => change({ failures }, 'replace')}
          />
          {data && <ScoreChoice report={data} choice={choice} onChange={(part) => change(part, 'replace')} />}
          <span className="ml-auto flex flex-wrap items-center gap-1">
            {others.some((metric) => !isBuiltIn(metric)) && (
              <MetricColumns
                metrics={others}
                shown={shown}
                onChange={(chosen) => change({ columns: chosen.join(',') || undefined }, 'replace')}
              />
            )}
            <ReportActions
              name="report"
              shared={{ kind: 'job', job: job.id }}
              url={(format, table) => reportAddress(job.id, choice, format, table)}
              tables={tablesOf(data)}
              isLoaded={data !== undefined}
            />
          </span>
        </div>
        {agents.length === 0 ? (
          <p className="text-muted">No agents.</p>
        ) : (
          <Leaderboard agents={agents} report={data} otherFigures={other.data?.agents} rule={rule} metrics={shown} />
        )}
        {data?.harbor_mean && (
          <p className="text-sm text-muted">
            <VisibleText max={600}>{data.harbor_mean}</VisibleText>
          </p>
        )}
      </section>
    </>
  )
})

interface MetricColumnsProps {
  metrics: readonly string[]
  shown: readonly string[]
  onChange: (shown: string[]) => void
}

const MetricColumns = ({ metrics, shown, onChange }: MetricColumnsProps) => (
  <DropdownMenu
    label="Metric columns"
    trigger={
      <Button size="sm" icon={Columns3}>
        Metrics
      </Button>
    }
    items={metrics.map((metric) => ({
      label: metricLabel(metric),
      checked: shown.includes(metric),
      onSelect: () => onChange(metrics.filter((each) => shown.includes(each) !== (each === metric))),
    }))}
  />
)

/** Polls while the job is active. The key changes when it ends, so that the report is read once more. */
export const useJobReport = (job: BenchmarkJob, choice: ReportChoice) => {
  const isActive = !hasJobEnded(job.state)
  return useQuery({
    ...benchmarkJobQueries.report(job.id, choice, isActive),
    refetchInterval: isActive ? pollMs : false,
  })
}

const icons: Record<Verdict['tone'], Icon> = {
  ok: CircleCheck,
  attention: CircleHelp,
  danger: CircleHelp,
  neutral: Scale,
}

const VerdictBanner = ({ verdict: { lead, more, tone } }: { verdict: Verdict }) => {
  const Icon = icons[tone]
  return (
    <div className={classes('flex items-start gap-3 rounded-md border px-4 py-2', toneClasses[tone])}>
      <Icon aria-hidden className="mt-1 size-5 shrink-0" />
      <div className="min-w-0 space-y-0.5 text-text">
        <p className="text-xl font-medium text-pretty" role="status">
          <VisibleText>{lead}</VisibleText>
        </p>
        {more.length > 0 && (
          <p className="text-muted">
            <VisibleText>{more.join(' ')}</VisibleText>
          </p>
        )}
      </div>
    </div>
  )
}

interface PairSectionProps {
  report: Report
  choice: ReportChoice
}

export const PairSection = ({ report, choice }: PairSectionProps) => {
  const { pairs, agents, metric } = report
  const [isExpanded, setIsExpanded] = useState(false)
  const rows = useMemo(() => sortPairs(pairs), [pairs])
  const shown = useMemo(() => (isExpanded ? rows : rows.slice(0, maxCollapsed)), [rows, isExpanded])
  const columns = useMemo(() => columnsOf(agents, axisOf(shown), metric, choice), [agents, shown, metric, choice])
  return (
    <section aria-label="Pairs" className="space-y-2">
      {pairs.length > 0 && (
        <>
          <h2 className="text-lg font-medium">{formatCountOf(pairs.length, 'pair')}</h2>
          <DataTable
            caption="Pairs of agents, largest difference first, controls last"
            columns={columns}
            rows={shown}
            totalRows={rows.length}
            rowKey={({ a, b }) => `${a.benchmark_run_id} ${b.benchmark_run_id}`}
          />
        </>
      )}
      {rows.length > maxCollapsed && (
        <p className="flex items-center gap-3 text-sm text-muted">
          <span className="tabular" role="status">
            Showing {formatCount(isExpanded ? rows.length : maxCollapsed)} of {formatCount(rows.length)} pairs
          </span>
          <Button size="sm" onClick={() => setIsExpanded(!isExpanded)}>
            {isExpanded ? 'Show fewer' : 'Show all'}
          </Button>
        </p>
      )}
      {agents.length > 0 && (
        <p className="max-w-prose text-sm text-muted">
          Means are over n scenarios, with attempts averaged per scenario. {failureRule(report)} Canceled attempts are
          excluded. {passRule(report)}
        </p>
      )}
    </section>
  )
}

const maxCollapsed = 6

const axisOf = (pairs: readonly PairFigures[]): number => {
  const largest = Math.max(
    0,
    ...pairs.flatMap(({ difference, ci_low, ci_high }) => [difference ?? 0, ci_low ?? 0, ci_high ?? 0].map(Math.abs)),
  )
  return [0.1, 0.25, 0.5, 1].find((end) => largest <= end) ?? roundUp(largest)
}

const columnsOf = (
  agents: readonly AgentFigures[],
  axis: number,
  metric: string | null,
  choice: ReportChoice,
): Column<PairFigures>[] => {
  const labels = shortLabels(agents.map(labeledAgent))
  const byRun = new Map(agents.map(({ benchmark_run_id }, at) => [benchmark_run_id, labels[at]]))
  const nameOf = (agent: AgentIdentity) => byRun.get(agent.benchmark_run_id) ?? labelOf(agent)
  return [
    {
      id: 'pair',
      header: 'Agents',
      cell: ({ row }) => <PairLines one={nameOf(row.original.a)} other={nameOf(row.original.b)} />,
      meta: { priority: 1, lines: () => 2 },
    },
    ...figureColumns(axis, metric, choice),
  ]
}

const figureColumns = (axis: number, metric: string | null, choice: ReportChoice): Column<PairFigures>[] => [
  differenceColumn((difference) => metricText(metric, difference), '9rem'),
  {
    id: 'interval',
    header: `95% CI, axis ${axisText(metric, -axis)} to ${axisText(metric, axis)}`,
    cell: ({ row }) => {
      const { difference, ci_low, ci_high, reasons } = row.original
      return (
        difference !== null && (
          <IntervalCell
            value={difference}
            low={ci_low}
            high={ci_high}
            axis={{ low: -axis, high: axis }}
            metric={metric}
            reason={reasons.ci_low}
          />
        )
      )
    },
    meta: { priority: 3, width: '14rem' },
  },
  ...significanceColumns<PairFigures>('Scenarios that only one of the two passes', choice),
]
