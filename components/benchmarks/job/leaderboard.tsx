import Link from 'next/link'
import type { Column } from '#components/list/column.ts'
import { DataTable } from '#components/list/data-table.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatDurationMs } from '#lib/browser/format.ts'
import { agentLabel, byMean, repeatSuffixes, threeDecimals } from '#lib/protocol/report-words.ts'
import type { AgentFigures, FailureRule, Report } from '#lib/protocol/reports.ts'
import { isControl } from '#lib/statistics/figures.ts'
import { BenchmarkState } from '../benchmark-state.tsx'
import { MeanHeader } from '../figure-text.tsx'
import { type AgentRow, outcomeCounts } from '../job-figures.ts'
import { AgentLines } from '../score.tsx'
import { Unknown } from '../unknown-times.tsx'
import { UsageText } from '../usage-text.tsx'
import { axisFor, IntervalBar } from './interval-bar.tsx'

interface Row {
  agent: AgentRow
  /** What tells it from one of its name and model. */
  mark: string
  /** Null until the report is there, or where it does not know the agent. */
  figures: AgentFigures | null
  /** The same by the other rule. */
  other: AgentFigures | null
  otherRule: FailureRule
}

interface LeaderboardProps {
  agents: readonly AgentRow[]
  /** Undefined until it has been read. */
  report: Report | undefined
  otherFigures: readonly AgentFigures[] | undefined
  rule: FailureRule
}

/** The agents of a job, the highest mean first, with how sure it is, and then those that check the tasks. */
export const Leaderboard = ({ agents, report, otherFigures, rule }: LeaderboardProps) => {
  const find = (all: readonly AgentFigures[] | undefined, { key }: AgentRow) =>
    all?.find(({ benchmark_run_id }) => benchmark_run_id === key) ?? null
  const marks = repeatSuffixes(agents.map(agentLabel))
  const rows = agents
    .map(
      (agent, at): Row => ({
        agent,
        mark: marks[at] ?? '',
        figures: find(report?.agents, agent),
        other: find(otherFigures, agent),
        otherRule: rule === 'zero' ? 'leave_out' : 'zero',
      }),
    )
    .sort(
      byMean(
        ({ agent }) => agent.name,
        ({ figures }) => figures,
      ),
    )
  const hasUsage = rows.some(({ figures }) => figures !== null && figures.n_with_tokens + figures.n_with_cost > 0)
  const hasAttempts = rows.some(({ figures }) => largestOf(figures?.pass_at_k) > 1)
  const hidden = [hasAttempts ? 'passes' : 'pass_at_k', ...(hasUsage ? [] : ['usage'])]
  return (
    <DataTable
      caption="Agents of the job, highest mean first, references last"
      columns={columnsOf(report).filter(({ id }) => !hidden.includes(id ?? ''))}
      rows={rows}
      rowKey={({ agent }) => agent.key}
    />
  )
}

const largestOf = (byK: Readonly<Record<string, number>> | null | undefined): number =>
  Math.max(0, ...Object.keys(byK ?? {}).map(Number))

const ruleWords: Record<FailureRule, string> = { zero: 'failures as 0', leave_out: 'without failures' }

const Nothing = ({ why }: { why: string | undefined }) => (
  <span className="text-muted" title={why}>
    None
  </span>
)

const columnsOf = (report: Report | undefined): Column<Row>[] => {
  const axis = axisOf(report)
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
      cell: ({ row }) => <Agent agent={row.original.agent} mark={row.original.mark} />,
      meta: { priority: 1, lines: () => 2 },
    },
    {
      id: 'mean',
      header: () => <MeanHeader metric={report?.metric} />,
      // On a phone the lines are broken, so that no denominator is cut off.
      cell: ({ row: { original: row } }) => <Mean {...row} />,
      meta: { priority: 2, lines: () => 2, width: '13rem', align: 'right' },
    },
    {
      id: 'interval',
      header: `95 % interval, on ${axis.low} to ${axis.high}`,
      cell: ({ row }) => {
        const { figures } = row.original
        return (
          figures?.mean != null && (
            <span className="flex items-center gap-3">
              <span className="w-20 shrink-0">
                <IntervalBar
                  value={figures.mean}
                  low={figures.ci_low}
                  high={figures.ci_high}
                  from={axis.low}
                  to={axis.high}
                />
              </span>
              {figures.ci_low === null || figures.ci_high === null ? (
                <span className="truncate text-muted" title={figures.reasons.ci_low}>
                  {figures.reasons.ci_low ?? 'none'}
                </span>
              ) : (
                <span className="tabular whitespace-nowrap" title={methodWords[figures.method ?? '']}>
                  {threeDecimals(figures.ci_low)} to {threeDecimals(figures.ci_high)}
                </span>
              )}
            </span>
          )
        )
      },
      meta: { priority: 3, width: '13.5rem' },
    },
    {
      id: 'passes',
      header: 'Passes',
      cell: ({ row }) => {
        const { figures } = row.original
        return (
          figures &&
          (figures.n_passed === null ? (
            <Nothing why={figures.reasons.n_passed} />
          ) : (
            `${formatCount(figures.n_passed)} of ${formatCount(figures.n_scenarios)}`
          ))
        )
      },
      meta: { priority: 3, width: '6.5rem', align: 'right' },
    },
    {
      id: 'pass_at_k',
      header: () => <span title="At least one of k attempts passes · all of k do">pass@k · pass^k</span>,
      cell: ({ row }) => {
        const { figures } = row.original

        const k = largestOf(figures?.pass_at_k)
        const [any, all] = [figures?.pass_at_k?.[k], figures?.pass_hat_k?.[k]]
        if (k < 2 || any === undefined)
          return <Nothing why={figures?.reasons.pass_at_k ?? 'There is one attempt at each scenario'} />
        return (
          <span title={`k = ${k}: ${allK(figures?.pass_at_k)}`}>
            {threeDecimals(any)} · {all === undefined ? '–' : threeDecimals(all)}{' '}
            <span className="text-muted">(k = {k})</span>
          </span>
        )
      },
      meta: { priority: 3, width: '9rem', align: 'right' },
    },
    {
      id: 'duration',
      header: () => <span title="Of the attempts that were not cancelled">Median · p95</span>,
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
    {
      id: 'usage',
      header: () => <span title="As the agents count them, over the attempts that report them">Tokens · cost</span>,
      cell: ({ row }) => row.original.figures && <UsageText figures={row.original.figures} />,
      meta: { priority: 3, width: '9rem', align: 'right' },
    },
    {
      id: 'counts',
      header: 'Attempts',
      cell: ({ row }) => <Counts agent={row.original.agent} figures={row.original.figures} />,
      meta: { priority: 3, width: '9.5rem', lines: () => 2 },
    },
  ]
}

/** The axis of the intervals: 0 to 1, or wide enough for the scores of another range. */
const axisOf = (report: Report | undefined) =>
  !report || report.is_unit_range
    ? { low: 0, high: 1 }
    : axisFor(report.agents.flatMap(({ mean, ci_low, ci_high }) => [mean ?? 0, ci_low ?? 0, ci_high ?? 0]))

/** The mean by the rule that was chosen, and below it by the other. */
const Mean = ({ agent, figures, other, otherRule }: Row) => {
  if (agent.state === 'finished' && !agent.outcome) return <Nothing why="The job has no outcome of it" />
  if (figures === null) return <span className="text-muted">…</span>
  return (
    <span className="block leading-4 @2xl:whitespace-nowrap">
      {figures.mean === null ? (
        <ToldMean agent={agent} why={figures.reasons.mean} />
      ) : (
        <span title={`Mean of ${scenarioWords(figures)}`}>
          <b className="font-semibold">{threeDecimals(figures.mean)}</b>{' '}
          <span className="text-muted">(n = {formatCount(figures.n_scenarios)})</span>
        </span>
      )}
      {other && (
        <span className="block text-xs leading-4 text-muted">
          {ruleWords[otherRule]}{' '}
          <span className="whitespace-nowrap">
            {other.mean === null ? 'none' : `${threeDecimals(other.mean)} (n = ${formatCount(other.n_scenarios)})`}
          </span>
        </span>
      )}
    </span>
  )
}

/** What a service tells that tells no attempts to count: the mean over those that completed. Else why there is no mean. */
export const ToldMean = ({
  agent: { outcome },
  why,
}: {
  agent: Pick<AgentRow, 'outcome'>
  why: string | undefined
}) => {
  if (outcome?.average_score == null || outcome.scenario_outcomes.length > 0) return <Nothing why={why} />
  const { completed, total } = outcomeCounts(outcome)
  return (
    <span title="Over those that completed, as the service reports it without attempts">
      <b className="font-semibold">{threeDecimals(outcome.average_score)}</b>{' '}
      <span className="text-muted">
        (n = {formatCount(completed)} of {formatCount(total)}, as reported)
      </span>
    </span>
  )
}

const allK = (byK: Readonly<Record<string, number>> | null | undefined): string =>
  Object.entries(byK ?? {})
    .map(([k, value]) => `pass@${k} ${threeDecimals(value)}`)
    .join(', ')

const scenarioWords = ({ n_scenarios, n_attempts }: AgentFigures): string =>
  `${formatCount(n_scenarios)} scenarios with ${formatCount(n_attempts)} attempts that count`

const methodWords: Record<string, string> = {
  wilson: "Wilson's interval: every scenario scores 0 or 1",
  t: "Student's t on the means of the scenarios",
  z: 'Normal interval on the means of the scenarios',
}

/** An agent, which leads to its run; the state of that while it is not simply over. */
const Agent = ({ agent: { name, model, runId, state, run }, mark }: Pick<Row, 'agent' | 'mark'>) => {
  const label = (
    <>
      <AgentLines name={`${name}${mark}`} model={model} isWhole />
      {isControl(name) && <span className="block text-xs leading-4 font-normal text-muted">reference, not ranked</span>}
    </>
  )
  return (
    <span className="flex min-w-0 items-center gap-2">
      {runId ? (
        <Link
          href={paths.benchmarkRun(runId)}
          prefetch={false}
          title={`${agentLabel({ name, model })}: open its run`}
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

/** How the attempts of an agent ended; what there is none of is left out. */
const Counts = ({ agent: { outcome }, figures }: { agent: AgentRow; figures: AgentFigures | null }) => {
  const of = figures ?? { ...outcome, n_cancelled: 0, n_other: 0 }
  const counts: [count: number | undefined, word: string][] = [
    [of.n_completed, 'completed'],
    [of.n_failed, 'failed'],
    [of.n_timeout, 'timed out'],
    [of.n_cancelled, 'cancelled'],
    [of.n_other, 'other'],
  ]
  const made = counts.reduce((sum, [count]) => sum + (count ?? 0), 0)
  const planned = figures?.n_planned ?? 0
  const missing = planned > made ? [`${formatCount(made)} of ${formatCount(planned)} planned`] : []
  const [first, ...rest] = [
    ...counts.flatMap(([count, word]) => (count ? [`${formatCount(count)}\u00a0${word}`] : [])),
    ...missing,
  ]
  if (first === undefined) return <span className="text-muted">none</span>
  return (
    <span className="tabular block leading-4">
      {first} {rest.length > 0 && <span className="block text-xs leading-4 text-muted">{rest.join(', ')}</span>}
    </span>
  )
}
