'use client'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { ChartLine, CircleCheck, CircleDot, CircleHelp, Equal, TrendingDown, TrendingUp } from 'lucide-react'
import Link from 'next/link'
import type { Column } from '#components/list/column.ts'
import { DataTable } from '#components/list/data-table.tsx'
import { useAddress } from '#components/list/use-address.ts'
import { Badge, type StateLook } from '#components/ui/badge.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { Scrolled } from '#components/ui/scrolled.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { useShownError } from '#components/ui/use-shown-error.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { isTransient } from '#lib/browser/api/failures.ts'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { axisFor } from '#lib/protocol/plot-axes.ts'
import { agentLabel, metricLabel, metricText, stepOf, type TrendStep } from '#lib/protocol/report-words.ts'
import type { ReportChoice, TrendPoint, TrendReport } from '#lib/protocol/reports.ts'
import { BenchmarkState } from '../benchmark-state.tsx'
import { Choice, RuleChoice, ScoreChoice } from '../choice.tsx'
import { comparePath } from '../compare/search-params.ts'
import { agentColumns, Missing, PairInterval, PairP, pHeader, ScoreWithN, signed, timeOrUnknown } from '../figures.tsx'
import { benchmarkJobQueries, trendAddress } from '../job/queries.ts'
import { jobViewPath } from '../job/search-params.ts'
import { ExclusionStrip } from '../marks/exclusion-strip.tsx'
import { ReportNotes, ReportPage } from '../report-page.tsx'
import { choiceOf } from '../report-params.ts'
import { TrendView, trendPath } from './search-params.ts'

const address = { schema: TrendView, path: trendPath }

export const TrendPage = () => {
  const { settled, change, problems } = useAddress(address)
  const recent = useQuery(benchmarkJobQueries.recent())
  const job = settled.job ?? recent.data?.[0]?.id
  const trend = {
    job: job ?? '',
    agent: settled.agent,
    model: settled.model,
    last: settled.last,
    ...choiceOf(settled),
  }
  const isValid = problems.length === 0
  const query = useQuery({ ...benchmarkJobQueries.trend(trend), enabled: job !== undefined && isValid })
  return (
    <ReportPage
      title="Trend"
      name="trend"
      shared={{ kind: 'trend' }}
      icon={ChartLine}
      problems={problems}
      restart={<ButtonLink href={paths.trend()}>Show the newest trend</ButtonLink>}
      instead={job === undefined && <NoJob recent={recent} />}
      query={query}
      url={(format) => trendAddress(trend, format)}
      loading="Loading jobs"
      failed={{
        title: "Couldn't load the trend",
        action: <ButtonLink href={paths.benchmarkJobs()}>All jobs</ButtonLink>,
      }}
    >
      {(report) => (
        <>
          <Choices report={report} trend={trend} recent={recent.data ?? []} change={change} />
          <Trend report={report} choice={choiceOf(settled)} onChange={(part) => change(part, 'replace')} />
        </>
      )}
    </ReportPage>
  )
}

const NoJob = ({ recent }: { recent: UseQueryResult }) => {
  const error = useShownError(recent)
  if (error) return <ErrorState title="Couldn't load jobs" error={error} recovers={isTransient(error)} query={recent} />
  if (recent.isPending) return <SkeletonRows columns={6} label="Loading jobs" />
  return (
    <EmptyState
      icon={ChartLine}
      title="No job has an outcome yet"
      action={<ButtonLink href={paths.benchmarkJobs()}>Benchmark jobs</ButtonLink>}
    >
      A trend shows how an agent's score changes from job to job on the same scenarios.
    </EmptyState>
  )
}

interface ChoicesProps {
  report: TrendReport
  trend: ReportChoice & { job: string; last: number }
  recent: readonly { id: string; name: string }[]
  change: (part: Partial<TrendView>, how: 'push') => void
}

const agentKey = ({ agent_name, model_name }: Pick<TrendReport, 'agent_name' | 'model_name'>) =>
  JSON.stringify([agent_name, model_name ?? ''])

const Choices = ({ report, trend, recent, change }: ChoicesProps) => {
  const { data_set: set } = report
  const jobs = recent.some(({ id }) => id === set.job_id) ? recent : [{ id: set.job_id, name: set.job_name }, ...recent]
  const isListed = report.agents.some((agent) => agentKey(agent) === agentKey(report))
  const agents = isListed ? report.agents : [{ ...report, n_jobs: 0 }, ...report.agents]
  const lasts = [...new Set([5, 10, 20, 50, trend.last])].sort((a, b) => a - b)
  return (
    <div className="flex flex-wrap items-end gap-3">
      <Choice
        label="Dataset of job"
        value={set.job_id}
        options={jobs.map(({ id, name }) => ({ value: id, label: name || id }))}
        onChange={(job) => change({ job, agent: undefined, model: undefined }, 'push')}
      />
      <Choice
        label="Agent"
        value={agentKey(report)}
        options={agents.map((each) => ({
          value: agentKey(each),
          label: `${agentLabel({ name: each.agent_name, model: each.model_name })} (${formatCountOf(each.n_jobs, 'job')})`,
        }))}
        onChange={(key) => {
          const [agent, model] = JSON.parse(key) as [string, string]
          change({ job: set.job_id, agent, model }, 'push')
        }}
      />
      <Choice
        label="Jobs"
        value={`${trend.last}`}
        options={lasts.map((last) => ({ value: `${last}`, label: last === 1 ? 'Last' : `Last ${last}` }))}
        onChange={(last) => change({ last: Number(last) }, 'push')}
      />
      <RuleChoice rule={report.rule} onChange={(failures) => change({ failures }, 'push')} />
      <ScoreChoice report={report} choice={choiceOf(trend)} onChange={(part) => change(part, 'push')} />
    </div>
  )
}

const coverageText = ({ points, n_jobs_of_data_set: n, n_jobs_read: read, has_older_jobs }: TrendReport): string => {
  const jobs = `${formatCountOf(n, 'job')} on this dataset`
  const newest = read === 1 ? 'the newest job' : `the newest ${formatCount(read)} jobs`
  const rest = has_older_jobs ? 'older jobs are not included' : 'there are no older jobs'
  return `Showing ${formatCountOf(points.length, 'run')} from ${jobs} in ${newest}; ${rest}.`
}

const jobOf = ({ points }: TrendReport, run: string): string =>
  points.find(({ figures }) => figures.benchmark_run_id === run)?.job.name ?? run

interface TrendProps {
  report: TrendReport
  choice: ReportChoice
  onChange: (part: Pick<ReportChoice, 'exclusions'>) => void
}

const Trend = ({ report, choice, onChange }: TrendProps) => {
  const { points, notes, verdict } = report
  const { lead, more, tone } = verdict
  const changed = points.filter(({ incomparable }) => incomparable.length > 0)
  return (
    <>
      <Banner tone={tone} role="status" title={<VisibleText max={800}>{lead}</VisibleText>}>
        {more.join(' ')}
      </Banner>
      <ExclusionStrip
        report={{ agents: points.map(({ figures }) => figures), exclusions: report.exclusions }}
        name={({ benchmark_run_id }) => jobOf(report, benchmark_run_id)}
        onChange={onChange}
      />
      <p className="tabular text-sm text-muted">{coverageText(report)}</p>
      {points.length > 0 && (
        <>
          <TrendPlot report={report} label={lead} />
          <TrendTable report={report} choice={choice} />
        </>
      )}
      {changed.length > 0 && (
        <section aria-label="Other differences" className="space-y-2">
          <h2 className="text-lg font-medium">Other differences</h2>
          <dl className="max-w-prose space-y-2">
            {changed.map(({ job, figures, incomparable }) => (
              <div key={figures.benchmark_run_id}>
                <dt className="font-medium">
                  <VisibleText max={200}>{job.name || job.id}</VisibleText>
                </dt>
                {incomparable.map(({ kind, text }) => (
                  <dd key={`${kind} ${text}`} className="text-muted">
                    <VisibleText max={600}>{text}</VisibleText>
                  </dd>
                ))}
              </div>
            ))}
          </dl>
        </section>
      )}
      <ReportNotes notes={notes} />
    </>
  )
}

interface Row extends TrendPoint {
  number: number
  choice: ReportChoice
}

const TrendTable = ({
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
  slightly_better: { tone: 'neutral', icon: TrendingUp, word: 'Better, not significant' },
  worse: { tone: 'neutral', icon: TrendingDown, word: 'Worse, not significant' },
  same: { tone: 'neutral', icon: Equal, word: 'Same mean' },
  none: { tone: 'neutral', icon: CircleHelp, word: 'Not comparable' },
}

const agentFigures = agentColumns<Row>(({ figures }) => figures)

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
  agentFigures.mean(metric, '8rem'),
  agentFigures.interval(metric, '8rem'),
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
            <ScoreWithN score={signed(change.difference, metric)} n={change.n} />
          </Link>
        ))
      )
    },
    meta: { priority: 3, width: '9.5rem', align: 'right' },
  },
  {
    id: 'change interval',
    header: () => <span title="95% CI of the change">CI of change</span>,
    cell: ({ row: { original } }) => original.change && <PairInterval pair={original.change} metric={metric} />,
    meta: { priority: 3, width: '8.5rem', align: 'right' },
  },
  {
    id: 'p',
    header: pHeader,
    cell: ({ row: { original } }) => original.change && <PairP pair={original.change} />,
    meta: { priority: 3, width: '9.5rem', align: 'right' },
  },
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

const [left, top, bottom, height] = [40, 26, 224, 262]

type Scale = (score: number) => number

const TrendPlot = ({ report, label }: { report: TrendReport; label: string }) => {
  const { points, metric, is_unit_range } = report
  const ends = points.flatMap(({ figures: { mean, ci_low, ci_high } }) => [mean ?? 0, ci_low ?? 0, ci_high ?? 0])
  const { low, high } = is_unit_range ? { low: 0, high: 1 } : axisFor(ends)
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => low + part * (high - low))
  const y: Scale = (score) => bottom - ((Math.min(high, Math.max(low, score)) - low) / (high - low)) * (bottom - top)
  const step = Math.min(160, Math.max(56, Math.floor(1040 / points.length)))
  const width = left + points.length * step + 12
  const x = (at: number) => left + (at + 0.5) * step
  const placed = points.flatMap((point, at) =>
    point.figures.mean === null ? [] : [{ point, at, mean: point.figures.mean }],
  )
  return (
    <figure className="space-y-1">
      <figcaption>
        <span className="font-medium">
          Mean {metric ? <VisibleText max={60}>{metricLabel(metric)}</VisibleText> : 'score'} by job
        </span>{' '}
        <span className="text-sm text-muted">
          x: jobs, oldest first, numbered as in the table; y: mean with 95% CI, {low} to {high}. Hollow: job still
          running. Triangle: regression (hollow: possible).
        </span>
      </figcaption>
      <Scrolled ref={showNewest} className="flex overflow-x-auto">
        {/* The scale stays visible while scrolling. */}
        <svg width={left} height={height} aria-hidden className="sticky left-0 shrink-0 bg-surface-0">
          {ticks.map((tick) => (
            <text
              key={tick}
              x={left - 6}
              y={y(tick) + 4}
              textAnchor="end"
              className="tabular fill-(--text-muted) text-[11px]"
            >
              {tick}
            </text>
          ))}
        </svg>
        <svg
          viewBox={`${left} 0 ${width - left} ${height}`}
          width={width - left}
          height={height}
          role="img"
          aria-label={label}
          className="shrink-0"
        >
          {ticks.map((tick) => (
            <line key={tick} x1={left} x2={width} y1={y(tick)} y2={y(tick)} className="stroke-(--line)" />
          ))}
          <polyline
            points={placed.map(({ at, mean }) => `${x(at)},${y(mean)}`).join(' ')}
            fill="none"
            className="stroke-(--accent) stroke-[1.5]"
          />
          {points.map((point, at) => (
            <Mark key={point.figures.benchmark_run_id} point={point} number={at + 1} x={x(at)} y={y} metric={metric} />
          ))}
        </svg>
      </Scrolled>
    </figure>
  )
}

const showNewest = (scrolled: HTMLElement | null) => {
  if (scrolled) scrolled.scrollLeft = scrolled.scrollWidth
}

interface MarkProps {
  point: TrendPoint
  number: number
  x: number
  y: Scale
  metric: string | null
}

const Mark = ({ point, number, x, y, metric }: MarkProps) => {
  const { mean, ci_low, ci_high, n_scenarios } = point.figures
  const regression = point.regression
  return (
    <g>
      <title>{`${point.job.name}: ${mean === null ? 'no score' : `${metricText(metric, mean)}, n = ${n_scenarios}`}`}</title>
      <text x={x} y={bottom + 16} textAnchor="middle" className="tabular fill-(--text) text-[11px]">
        {number}
      </text>
      <text x={x} y={bottom + 30} textAnchor="middle" className="tabular fill-(--text-muted) text-[10px]">
        {mean === null ? 'no score' : `n ${formatCount(n_scenarios)}`}
      </text>
      {mean !== null && (
        <>
          {ci_low !== null && ci_high !== null && (
            <path
              d={`M${x} ${y(ci_low)}V${y(ci_high)}M${x - 5} ${y(ci_low)}h10M${x - 5} ${y(ci_high)}h10`}
              className="stroke-(--text-muted) stroke-[1.5]"
            />
          )}
          {regression ? (
            <path
              d={`M${x - 7} ${y(mean) - 5}h14l-7 12z`}
              className={
                regression === 'significant' ? 'fill-(--danger)' : 'fill-(--surface-0) stroke-(--attention) stroke-2'
              }
            />
          ) : (
            <circle
              cx={x}
              cy={y(mean)}
              r={5}
              className={point.complete ? 'fill-(--accent)' : 'fill-(--surface-0) stroke-(--accent) stroke-2'}
            />
          )}
          <text
            x={x + 9}
            y={y(mean) + (y(mean) < top + 20 ? 14 : -6)}
            paintOrder="stroke"
            className="tabular fill-(--text) stroke-(--surface-0) stroke-[4] text-[11px]"
          >
            {metricText(metric, mean)}
          </text>
          {regression && (
            <text x={x} y={14} textAnchor="middle" className="fill-(--text) text-[10px] font-medium">
              {stepOf(point) === 'regression' ? 'Regression' : 'Possible'}
            </text>
          )}
        </>
      )}
    </g>
  )
}
