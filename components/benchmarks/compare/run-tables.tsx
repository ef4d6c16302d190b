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
import {
  agentColumns,
  differenceColumn,
  hasUsage,
  PairInterval,
  signed,
  significanceColumns,
  Unknown,
} from '../figures.tsx'
import { jobViewPath } from '../job/search-params.ts'
import { AgentLines, PairLines } from '../score.tsx'

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

const agentFigures = agentColumns<AgentFigures>((figures) => figures)

const runColumns = ({ jobs, agents, metric }: CompareReport, choice: ReportChoice): Column<AgentFigures>[] => {
  const suffixes = repeatSuffixes(agents.map((agent) => JSON.stringify([agent.job_id, labelOf(agent)])))
  const suffixOf = (id: string) => suffixes[agents.findIndex(({ benchmark_run_id }) => benchmark_run_id === id)] ?? ''
  const jobName = (job_id: string) => jobs.find(({ id }) => id === job_id)?.name ?? job_id
  const isUsed = agents.some(hasUsage)
  return [
    {
      id: 'agent',
      header: 'Agent',
      cell: ({ row }) => {
        const { agent_name, model_name, job_id, benchmark_run_id, differs } = row.original
        return (
          <span className="block leading-4">
            <AgentLines
              name={`${agent_name}${suffixOf(benchmark_run_id)}`}
              model={model_name}
              differs={differs}
              isWhole
            />
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
      meta: { priority: 3, width: isUsed ? '13%' : '17%', lines: () => 1 },
    },
    agentFigures.mean(metric, '9rem'),
    agentFigures.interval(metric, '9rem'),
    agentFigures.passes('7rem'),
    {
      id: 'counts',
      header: () => (
        <span title="Attempts completed · failed · timed out · canceled">
          {isUsed ? 'Done · E · T · C' : 'Done · failed · timed out · canceled'}
        </span>
      ),
      cell: ({ row }) => {
        const { n_completed, n_failed, n_timeout, n_cancelled } = row.original
        return [n_completed, n_failed, n_timeout, n_cancelled].map(formatCount).join(' · ')
      },
      meta: { priority: 3, width: isUsed ? '8.5rem' : '15.5rem', align: 'right' },
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
    ...(isUsed ? [agentFigures.usage] : []),
  ]
}

export const DifferenceTable = ({ report, choice }: { report: CompareReport; choice: ReportChoice }) => {
  const { failures, metric, direction, threshold } = choice
  const columns = useMemo(
    () =>
      differenceColumns(runNames(report), sameAgentJob(report), report.metric, {
        failures,
        metric,
        direction,
        threshold,
      }),
    [report, failures, metric, direction, threshold],
  )
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
  metric: string | null,
  choice: ReportChoice,
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
  differenceColumn((difference) => signed(difference, metric)),
  {
    id: 'interval',
    header: '95% CI',
    cell: ({ row }) => <PairInterval pair={row.original} metric={metric} />,
    meta: { priority: 3, width: '10rem', align: 'right' },
  },
  ...significanceColumns<ComparedPair>('Scenarios that only the run or only the baseline passes', choice),
]
