import { CircleCheck, CircleDot, CircleHelp, Equal, TrendingDown, TrendingUp } from 'lucide-react'
import Link from 'next/link'
import { type Column, renderCell } from '#components/list/column.ts'
import { DataTable } from '#components/list/data-table.tsx'
import { Badge, type StateLook } from '#components/ui/badge.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { stepOf, type TrendStep } from '#lib/protocol/report-words.ts'
import type { ComparedPair, ReportChoice, TrendPoint, TrendReport } from '#lib/protocol/reports.ts'
import { BenchmarkState } from '../benchmark-state.tsx'
import { comparePath } from '../compare/search-params.ts'
import { IntervalText, MeanHeader, MeanText, Missing, ScoreWithN, signed } from '../figure-text.tsx'
import { jobViewPath } from '../job/search-params.ts'
import { significanceColumns } from '../pair-columns.tsx'
import { timeOrUnknown } from '../unknown-times.tsx'

interface Row extends TrendPoint {
  number: number
  choice: ReportChoice
}

export const TrendTable = ({
  report: { points, metric },
  choice,
}: {
  report: Pick<TrendReport, 'points' | 'metric'>
  choice: ReportChoice
}) => (
  <DataTable
    caption="Jobs of the trend, newest first"
    columns={columnsOf(metric)}
    rows={points.map((point, at): Row => ({ ...point, number: at + 1, choice })).reverse()}
    rowKey={({ figures }) => figures.benchmark_run_id}
  />
)

const looks: Record<TrendStep, Pick<StateLook, 'tone' | 'icon'> & { word: string }> = {
  first: { tone: 'neutral', icon: CircleDot, word: 'First' },
  regression: { tone: 'danger', icon: TrendingDown, word: 'Regression' },
  possible: { tone: 'attention', icon: TrendingDown, word: 'Possible regression' },
  better: { tone: 'ok', icon: CircleCheck, word: 'Better' },
  higher: { tone: 'neutral', icon: TrendingUp, word: 'Higher, not significant' },
  lower: { tone: 'neutral', icon: TrendingDown, word: 'Lower, not significant' },
  same: { tone: 'neutral', icon: Equal, word: 'Same mean' },
  none: { tone: 'neutral', icon: CircleHelp, word: 'Not comparable' },
}

const ofChange = (column: Column<ComparedPair>) =>
  ({
    ...column,
    meta: { ...column.meta, lines: undefined },
    cell: ({ row: { original } }: { row: { original: Row } }) =>
      original.change && renderCell(column, { row: { original: original.change } } as never),
  }) as unknown as Column<Row>

const columnsOf = (metric: string | null): Column<Row>[] => [
  {
    id: 'job',
    header: 'Job',
    cell: ({ row }) => {
      const { number, job, complete, choice } = row.original
      return (
        <span className="flex min-w-0 items-center gap-2">
          <span className="tabular shrink-0 text-muted">{number}</span>
          <TextLink href={jobViewPath(job.id)(choice)} prefetch={false} className="truncate">
            <VisibleText truncate>{job.name || job.id}</VisibleText>
          </TextLink>
          {(!complete || job.state !== 'completed') && <BenchmarkState of="job" state={job.state} />}
        </span>
      )
    },
    meta: { priority: 1 },
  },
  {
    id: 'mean',
    header: () => <MeanHeader metric={metric} />,
    cell: ({ row }) => <MeanText figures={row.original.figures} />,
    meta: { priority: 2, width: '8rem', align: 'right' },
  },
  {
    id: 'interval',
    header: '95% CI',
    cell: ({ row }) => <IntervalText figures={row.original.figures} />,
    meta: { priority: 3, width: '8rem', align: 'right' },
  },
  {
    id: 'change',
    header: () => <span title="Mean difference on the scenarios both jobs scored">Change from previous job</span>,
    cell: ({ row }) => {
      const { change, choice } = row.original
      return (
        change &&
        (change.difference === null ? (
          <Missing why={change.reasons.difference} />
        ) : (
          <Link
            href={comparePath({
              jobs: `${change.b.job_id},${change.a.job_id}`,
              baseline: change.b.benchmark_run_id,
              ...choice,
            })}
            prefetch={false}
            title="Compare the two jobs"
            className="hover:underline"
          >
            <ScoreWithN score={signed(change.difference)} n={change.n} />
          </Link>
        ))
      )
    },
    meta: { priority: 3, width: '9.5rem', align: 'right' },
  },
  {
    id: 'change interval',
    header: () => <span title="95% CI of the change">CI of change</span>,
    cell: ({ row }) => {
      const { change } = row.original
      return (
        change &&
        (change.ci_low === null || change.ci_high === null ? (
          <Missing why={change.reasons.ci_low} />
        ) : (
          `${signed(change.ci_low)} to ${signed(change.ci_high)}`
        ))
      )
    },
    meta: { priority: 3, width: '8.5rem', align: 'right' },
  },
  ...significanceColumns<ComparedPair>('Scenarios that pass in only one of the jobs')
    .filter(({ id }) => id === 'p')
    .map(ofChange),
  {
    id: 'step',
    header: 'Trend',
    cell: ({ row: { original: point } }) => {
      const { tone, icon, word } = looks[stepOf(point)]
      return (
        <Badge tone={tone} icon={icon}>
          {word}
        </Badge>
      )
    },
    meta: { priority: 3, width: '10.5rem' },
  },
  timeOrUnknown(({ job }) => job.create_time_ms, 'Created'),
]
