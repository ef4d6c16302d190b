import { useMemo } from 'react'
import type { Column } from '#components/list/column.ts'
import { DataTable } from '#components/list/data-table.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatDurationMs } from '#lib/browser/format.ts'
import {
  labelOf,
  lossesFirst,
  type NameOf,
  repeatSuffixes,
  runNames,
  sameAgentJob,
} from '#lib/protocol/report-words.ts'
import type { AgentFigures, ComparedPair, CompareReport, ReportChoice } from '#lib/protocol/reports.ts'
import { IntervalText, MeanHeader, MeanText, Missing, signed } from '../figure-text.tsx'
import { jobViewPath } from '../job/search-params.ts'
import { differenceColumn, significanceColumns } from '../pair-columns.tsx'
import { AgentLines, PairLines } from '../score.tsx'
import { Unknown } from '../unknown-times.tsx'
import { UsageText } from '../usage-text.tsx'

export const RunTable = ({ report, choice }: { report: CompareReport; choice: ReportChoice }) => (
  <section aria-label="Runs" className="space-y-2">
    <h2 className="text-lg font-medium">All runs</h2>
    {report.agents.length === 0 ? (
      <p className="text-muted">No outcomes yet.</p>
    ) : (
      <DataTable
        caption="Compared runs"
        columns={runColumns(report, choice)}
        rows={report.agents}
        rowKey={({ benchmark_run_id }) => benchmark_run_id}
      />
    )}
  </section>
)

const runColumns = ({ jobs, agents, metric }: CompareReport, choice: ReportChoice): Column<AgentFigures>[] => {
  const suffixes = repeatSuffixes(agents.map((agent) => JSON.stringify([agent.job_id, labelOf(agent)])))
  const suffixOf = (id: string) => suffixes[agents.findIndex(({ benchmark_run_id }) => benchmark_run_id === id)] ?? ''
  const jobName = (job_id: string) => jobs.find(({ id }) => id === job_id)?.name ?? job_id
  const hasUsage = agents.some(({ n_with_tokens, n_with_cost }) => n_with_tokens + n_with_cost > 0)
  return [
    {
      id: 'agent',
      header: 'Agent',
      cell: ({ row }) => {
        const { agent_name, model_name, job_id, benchmark_run_id } = row.original
        return (
          <span className="block leading-4">
            <AgentLines name={`${agent_name}${suffixOf(benchmark_run_id)}`} model={model_name} isWhole />
            {/* Narrow rows have no job column. */}
            {jobs.length > 1 && (
              <span className="block text-xs leading-4 font-normal text-muted @2xl:hidden">
                <VisibleText max={120}>{jobName(job_id)}</VisibleText>
              </span>
            )}
          </span>
        )
      },
      meta: { priority: 1, lines: () => 2 },
    },
    {
      id: 'job',
      header: 'Job',
      cell: ({ row }) => (
        <TextLink href={jobViewPath(row.original.job_id)(choice)} inRow>
          <VisibleText max={120}>{jobName(row.original.job_id)}</VisibleText>
        </TextLink>
      ),
      meta: { priority: 3, width: hasUsage ? '13%' : '17%', lines: () => 1 },
    },
    {
      id: 'mean',
      header: () => <MeanHeader metric={metric} />,
      cell: ({ row: { original: figures } }) => <MeanText figures={figures} />,
      meta: { priority: 2, width: '9rem', align: 'right' },
    },
    {
      id: 'interval',
      header: '95% CI',
      cell: ({ row: { original: figures } }) => <IntervalText figures={figures} />,
      meta: { priority: 3, width: '9rem', align: 'right' },
    },
    {
      id: 'passes',
      header: 'Passes',
      cell: ({ row }) => {
        const { n_passed, n_scenarios, reasons } = row.original
        return n_passed === null ? (
          <Missing why={reasons.n_passed} />
        ) : (
          `${formatCount(n_passed)} of ${formatCount(n_scenarios)}`
        )
      },
      meta: { priority: 3, width: '7rem', align: 'right' },
    },
    {
      id: 'counts',
      header: () => (
        <span title="Attempts completed · failed · timed out · canceled">
          {hasUsage ? 'Done · E · T · C' : 'Done · failed · timed out · canceled'}
        </span>
      ),
      cell: ({ row }) => {
        const { n_completed, n_failed, n_timeout, n_cancelled } = row.original
        return [n_completed, n_failed, n_timeout, n_cancelled].map(formatCount).join(' · ')
      },
      meta: { priority: 3, width: hasUsage ? '8.5rem' : '15.5rem', align: 'right' },
    },
    {
      id: 'duration',
      header: 'Median time',
      cell: ({ row }) => {
        const { duration_median_ms, reasons } = row.original
        return duration_median_ms === null ? (
          <span title={reasons.duration_median_ms}>
            <Unknown />
          </span>
        ) : (
          formatDurationMs(duration_median_ms)
        )
      },
      meta: { priority: 3, width: '7rem', align: 'right' },
    },
    ...(hasUsage ? [usageColumn] : []),
  ]
}

const usageColumn: Column<AgentFigures> = {
  id: 'usage',
  header: () => <span title="Sums over attempts that report them">Tokens · cost</span>,
  cell: ({ row: { original: figures } }) => <UsageText figures={figures} />,
  meta: { priority: 3, width: '9rem', align: 'right' },
}

export const DifferenceTable = ({ report }: { report: CompareReport }) => {
  const columns = useMemo(() => differenceColumns(runNames(report), sameAgentJob(report)), [report])
  return (
    <section aria-label="Differences" className="space-y-2">
      <h2 className="text-lg font-medium">Differences from the baseline</h2>
      {report.pairs.length === 0 ? (
        <p className="text-muted">{noPairsText(report)}</p>
      ) : (
        <DataTable
          caption="Differences from the baseline, largest loss first"
          columns={columns}
          rows={report.pairs.toSorted(lossesFirst)}
          rowKey={({ a }) => a.benchmark_run_id}
        />
      )}
    </section>
  )
}

const noPairsText = ({ agents }: CompareReport): string => {
  if (agents.length === 0) return 'No outcomes to compare yet.'
  if (agents.length === 1) return 'Only one agent has an outcome. Add a job to compare it with.'
  return 'No baseline: that job has no agent of the same name. Choose one of its agents as the baseline.'
}

const differenceColumns = (
  name: NameOf,
  baselineJob: (pair: ComparedPair) => string | undefined,
): Column<ComparedPair>[] => [
  {
    id: 'pair',
    header: 'Run vs baseline',
    cell: ({ row: { original: pair } }) => {
      const job = baselineJob(pair)
      return <PairLines one={name(pair.a)} other={job === undefined ? name(pair.b) : `the same in ${job}`} />
    },
    meta: { priority: 1, lines: () => 2 },
  },
  differenceColumn(signed),
  {
    id: 'interval',
    header: '95% CI',
    cell: ({ row }) => {
      const { ci_low, ci_high, reasons } = row.original
      return ci_low === null || ci_high === null ? (
        <Missing why={reasons.ci_low} />
      ) : (
        `${signed(ci_low)} to ${signed(ci_high)}`
      )
    },
    meta: { priority: 3, width: '10rem', align: 'right' },
  },
  ...significanceColumns<ComparedPair>('Scenarios that only the run or only the baseline passes'),
]
