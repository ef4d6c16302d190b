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
import { significanceColumns } from '../pair-columns.tsx'
import { AgentLines, PairLines } from '../score.tsx'
import { Unknown } from '../unknown-times.tsx'
import { UsageText } from '../usage-text.tsx'

/** Every agent of every job, as it stands by itself. */
export const SideTable = ({ report, choice }: { report: CompareReport; choice: ReportChoice }) => (
  <section aria-label="Sides" className="space-y-2">
    <h2 className="text-lg font-medium">Side by side</h2>
    {report.agents.length === 0 ? (
      <p className="text-muted">No agent of these jobs has an outcome yet.</p>
    ) : (
      <DataTable
        caption="The agents that are compared"
        columns={sideColumns(report, choice)}
        rows={report.agents}
        rowKey={({ benchmark_run_id }) => benchmark_run_id}
      />
    )}
  </section>
)

const sideColumns = ({ jobs, agents, metric }: CompareReport, choice: ReportChoice): Column<AgentFigures>[] => {
  const marks = repeatSuffixes(agents.map((agent) => JSON.stringify([agent.job_id, labelOf(agent)])))
  const markOf = (id: string) => marks[agents.findIndex(({ benchmark_run_id }) => benchmark_run_id === id)] ?? ''
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
            <AgentLines name={`${agent_name}${markOf(benchmark_run_id)}`} model={model_name} isWhole />
            {/* Narrow, the column of jobs is not in the row. */}
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
      header: '95 % interval',
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
      // By the letters of the grid where there is no room for words: names of agents are not cut off.
      header: () => (
        <span title="Attempts completed · failed · timed out · cancelled">
          {hasUsage ? 'Done · E · T · C' : 'Done · failed · timed out · cancelled'}
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
  header: () => <span title="As the agents count them, over the attempts that report them">Tokens · cost</span>,
  cell: ({ row: { original: figures } }) => <UsageText figures={figures} />,
  meta: { priority: 3, width: '9rem', align: 'right' },
}

/** Each side against its baseline, on the scenarios both have, with the test beside the difference. */
export const DifferenceTable = ({ report }: { report: CompareReport }) => {
  const columns = useMemo(() => differenceColumns(runNames(report), sameAgentJob(report)), [report])
  return (
    <section aria-label="Differences" className="space-y-2">
      <h2 className="text-lg font-medium">Differences from the baseline</h2>
      {report.pairs.length === 0 ? (
        <p className="text-muted">{withoutPairs(report)}</p>
      ) : (
        <DataTable
          caption="Differences from the baseline, the largest loss first"
          columns={columns}
          rows={report.pairs.toSorted(lossesFirst)}
          rowKey={({ a }) => a.benchmark_run_id}
        />
      )}
    </section>
  )
}

const withoutPairs = ({ agents }: CompareReport): string => {
  if (agents.length === 0) return 'Nothing can be compared before there is an outcome.'
  if (agents.length === 1)
    return 'There is one agent with an outcome, and nothing to compare it with. Choose one job more above.'
  return "No side has a baseline: the baseline's job has no agent of the same name. Choose one of its agents as the baseline."
}

const differenceColumns = (
  name: NameOf,
  elsewhere: (pair: ComparedPair) => string | undefined,
): Column<ComparedPair>[] => [
  {
    id: 'pair',
    header: 'Side over its baseline',
    cell: ({ row: { original: pair } }) => {
      const job = elsewhere(pair)
      return <PairLines one={name(pair.a)} other={job === undefined ? name(pair.b) : `the same in ${job}`} />
    },
    meta: { priority: 1, lines: () => 2 },
  },
  {
    id: 'difference',
    header: 'Difference',
    cell: ({ row }) => {
      const { difference, n, reasons } = row.original
      return difference === null ? (
        <Missing why={reasons.difference} />
      ) : (
        <span className="whitespace-nowrap">
          <b className="font-semibold">{signed(difference)}</b>{' '}
          <span className="text-muted">(n = {formatCount(n)})</span>
        </span>
      )
    },
    meta: { priority: 2, width: '10rem', align: 'right' },
  },
  {
    id: 'interval',
    header: '95 % interval',
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
  ...significanceColumns<ComparedPair>('Scenarios that only the side passes · only its baseline'),
]
