import type { RowData } from '@tanstack/react-table'
import { CircleCheck, CircleHelp } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Column } from '#components/list/column.ts'
import { durationColumn, type TimeAccessor, timeColumn } from '#components/list/columns.tsx'
import { Badge } from '#components/ui/badge.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatDurationMs } from '#lib/browser/format.ts'
import {
  aboutScenarios,
  countOf,
  formatP,
  labelOf,
  metricLabel,
  metricText,
  pText,
  threeDecimals,
} from '#lib/protocol/report-words.ts'
import type { AgentFigures, PairFigures, ReportChoice } from '#lib/protocol/reports.ts'
import { BenchmarkState } from './benchmark-state.tsx'
import { sideBySidePath, sideText } from './side-by-side/search-params.ts'
import { UsageText } from './usage-text.tsx'

type Width = `${number}rem`

export const Unknown = () => <span className="text-muted">Unknown</span>

export const Missing = ({ why = 'Not available' }: { why?: string | undefined }) => (
  <span className="text-muted" title={why}>
    None
  </span>
)

/** `0.667 (n = 3)` */
export const ScoreWithN = ({ score, n, title }: { score: string; n: number | string; title?: string }) => (
  <span className="whitespace-nowrap" title={title}>
    <b className="font-semibold">{score}</b>{' '}
    <span className="text-muted">(n = {typeof n === 'number' ? formatCount(n) : n})</span>
  </span>
)

export const MeanHeader = ({ metric }: { metric: string | null | undefined }) =>
  metric ? (
    <span title={`Mean ${metricLabel(metric)}`}>
      Mean <VisibleText max={24}>{metricLabel(metric)}</VisibleText>
    </span>
  ) : (
    'Mean score'
  )

export const ScoreText = ({ score }: { score: number | null | undefined }) =>
  score == null ? <span className="text-muted">None</span> : threeDecimals(score)

export const signed = (value: number, metric?: string | null): string =>
  `${value > 0 ? '+' : ''}${metricText(metric, value)}`

interface PairIntervalProps {
  pair: PairFigures
  metric: string | null
}

export const PairInterval = ({ pair: { ci_low, ci_high, reasons }, metric }: PairIntervalProps) =>
  ci_low === null || ci_high === null ? (
    <Missing why={reasons.ci_low} />
  ) : (
    `${signed(ci_low, metric)} to ${signed(ci_high, metric)}`
  )

export const PairP = ({ pair: { p_value, p_adjusted, method, reasons } }: { pair: PairFigures }) =>
  p_value === null ? (
    <Missing why={reasons.p_value} />
  ) : (
    <span title={method === null ? undefined : methods[method]}>
      {formatP(p_value)} · {p_adjusted === null ? <span title={reasons.p_adjusted}>–</span> : formatP(p_adjusted)}
    </span>
  )

export const stateColumn = <Row extends { state: string }>(
  of: 'job' | 'run' | 'scenario-run',
  width: Width,
): Column<Row> => ({
  accessorKey: 'state',
  id: 'state',
  header: 'State',
  cell: ({ row }) => <BenchmarkState of={of} state={row.original.state} />,
  meta: { priority: 2, width },
})

/** Shows "Unknown" for ended rows without a duration, such as imported trials. */
export const durationOnceEnded = <Row extends { duration_ms?: number | null | undefined }>(
  hasEnded: (row: Row) => boolean,
): Column<Row> => ({
  ...durationColumn<Row>(),
  cell: ({ row: { original: row } }) =>
    row.duration_ms != null ? formatDurationMs(row.duration_ms) : hasEnded(row) && <Unknown />,
})

export const timeOrUnknown = <Row extends RowData>(accessor: TimeAccessor<Row>, header: string): Column<Row> => ({
  ...timeColumn(accessor, header),
  cell: ({ getValue }) => <RelativeTime ms={getValue() ?? null} />,
})

export const agentColumns = <Row extends RowData>(figuresOf: (row: Row) => AgentFigures | null) => {
  const cell =
    (show: (figures: AgentFigures) => ReactNode): Column<Row>['cell'] =>
    ({ row }) => {
      const figures = figuresOf(row.original)
      return figures && show(figures)
    }
  return {
    mean: (metric: string | null, width: Width): Column<Row> => ({
      id: 'mean',
      header: () => <MeanHeader metric={metric} />,
      cell: cell(({ mean, n_scenarios, reasons }) =>
        mean === null ? (
          <Missing why={reasons.mean} />
        ) : (
          <ScoreWithN score={metricText(metric, mean)} n={n_scenarios} />
        ),
      ),
      meta: { priority: 2, width, align: 'right' },
    }),
    interval: (metric: string | null, width: Width): Column<Row> => ({
      id: 'interval',
      header: '95% CI',
      cell: cell(({ ci_low, ci_high, reasons }) =>
        ci_low === null || ci_high === null ? (
          <Missing why={reasons.ci_low} />
        ) : (
          `${metricText(metric, ci_low)} to ${metricText(metric, ci_high)}`
        ),
      ),
      meta: { priority: 3, width, align: 'right' },
    }),
    passes: (width: Width): Column<Row> => ({
      id: 'passes',
      header: 'Passes',
      cell: cell(({ n_passed, n_scenarios, reasons }) =>
        n_passed === null ? (
          <Missing why={reasons.n_passed} />
        ) : (
          `${formatCount(n_passed)} of ${formatCount(n_scenarios)}`
        ),
      ),
      meta: { priority: 3, width, align: 'right' },
    }),
    usage: {
      id: 'usage',
      header: () => <span title="Sums over attempts that report them">Tokens · cost</span>,
      cell: cell((figures) => <UsageText figures={figures} />),
      meta: { priority: 3, width: '9rem', align: 'right' },
    } satisfies Column<Row>,
  }
}

export const hasUsage = ({ n_with_tokens, n_with_cost }: AgentFigures): boolean => n_with_tokens + n_with_cost > 0

export const differenceColumn = <Pair extends PairFigures>(
  format: (difference: number) => string,
  width: Width = '10rem',
): Column<Pair> => ({
  id: 'difference',
  header: 'Difference',
  cell: ({ row }) => {
    const { difference, n, reasons } = row.original
    return difference === null ? <Missing why={reasons.difference} /> : <ScoreWithN score={format(difference)} n={n} />
  },
  meta: { priority: 2, width, align: 'right' },
})

export const pHeader = () => <span title="Sign-flip test; Holm-adjusted over the pairs">p · adjusted</span>

const sideOf = ({ job_id, benchmark_run_id }: PairFigures['a']) => sideText({ job: job_id, run: benchmark_run_id })

export const significanceColumns = <Pair extends PairFigures>(
  discordant: string,
  choice: ReportChoice,
): Column<Pair>[] => [
  {
    id: 'p',
    header: pHeader,
    cell: ({ row }) => <PairP pair={row.original} />,
    meta: { priority: 3, width: '9.5rem', align: 'right' },
  },
  {
    id: 'discordant',
    header: () => <span title={`${discordant}; McNemar's exact p`}>Discordant</span>,
    cell: ({ row }) => {
      const { a, b, only_a_passes, only_b_passes, mcnemar_p, reasons } = row.original
      return only_a_passes === null || only_b_passes === null ? (
        <Missing why={reasons.only_a_passes} />
      ) : (
        <TextLink
          inRow
          prefetch={false}
          className="whitespace-nowrap"
          href={sideBySidePath({ ...choice, a: sideOf(a), b: sideOf(b) })}
          title={`${countOf(only_a_passes, 'scenario')} only ${labelOf(a)} passes, ${formatCount(only_b_passes)} only ${labelOf(b)} passes. Opens the disagreements side by side`}
        >
          {formatCount(only_a_passes)} vs {formatCount(only_b_passes)}
          <span className="text-muted">{mcnemar_p === null ? '' : ` (${pText(mcnemar_p)})`}</span>
        </TextLink>
      )
    },
    meta: { priority: 3, width: '9.75rem', align: 'right' },
  },
  {
    id: 'significant',
    header: 'Significance',
    cell: ({ row: { original: pair } }) => (
      <span className="flex flex-wrap items-center gap-x-1.5 leading-4">
        <Badge tone={pair.significant ? 'ok' : 'neutral'} icon={pair.significant ? CircleCheck : CircleHelp}>
          {pair.significant ? 'Significant' : 'Not significant'}
        </Badge>
        {!pair.significant && (
          <span className="text-xs leading-4 text-muted" title={pair.reasons.scenarios_needed ?? neededText(pair)}>
            {neededText(pair)}
          </span>
        )}
      </span>
    ),
    meta: { priority: 3, width: '16rem', lines: () => 1 },
  },
]

const methods: Record<NonNullable<PairFigures['method']>, string> = {
  sign_flips_exact: 'Exact sign-flip test',
  sign_flips_rounded: 'Sign-flip test on differences rounded to a fine grid',
  sign_flips_normal: 'Sign-flip test, normal approximation',
}

const neededText = ({ difference, n, p_value, scenarios_needed, min_scenarios, reasons }: PairFigures): string => {
  if (scenarios_needed !== null) return `${aboutScenarios(scenarios_needed)} needed`
  if (difference === 0) return 'no difference'
  if (difference === null) return reasons.difference ?? ''
  if (n < min_scenarios) return `at least ${min_scenarios} scenarios needed`
  return p_value !== null && p_value < 0.05 ? 'significant only before adjustment' : ''
}
