'use client'
import { useQuery } from '@tanstack/react-query'
import { ChartLine } from 'lucide-react'
import { StaleNotice } from '#components/list/stale-notice.tsx'
import { useAddress } from '#components/list/use-address.ts'
import { Banner } from '#components/ui/banner.tsx'
import { ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { useShownError } from '#components/ui/use-shown-error.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { isTransient } from '#lib/browser/api/failures.ts'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { agentLabel } from '#lib/protocol/report-words.ts'
import type { ReportChoice, TrendReport } from '#lib/protocol/reports.ts'
import { Choice, RuleChoice, ScoreChoice } from '../choice.tsx'
import { ReportNotes } from '../figure-text.tsx'
import { benchmarkJobQueries, trendAddress } from '../job/queries.ts'
import { ReportActions } from '../report-actions.tsx'
import { choiceOf } from '../report-params.ts'
import { TrendView, trendPath } from './search-params.ts'
import { TrendPlot } from './trend-plot.tsx'
import { TrendTable } from './trend-table.tsx'

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
  const hasJob = job !== undefined && problems.length === 0
  const query = useQuery({ ...benchmarkJobQueries.trend(trend), enabled: hasJob })
  const error = useShownError(query)
  const recentError = useShownError(recent)
  const report = query.data
  return (
    <>
      <PageHeader
        title="Trend"
        actions={
          hasJob && (
            <ReportActions name="trend" url={(format) => trendAddress(trend, format)} isLoaded={report !== undefined} />
          )
        }
      />
      {problems.length > 0 ? (
        <EmptyState
          icon={ChartLine}
          title="Invalid address"
          action={<ButtonLink href={paths.trend()}>Show the newest trend</ButtonLink>}
        >
          {problems.map(({ field, message }) => `${field} ${message}`).join('; ')}
        </EmptyState>
      ) : hasJob ? (
        error && !report ? (
          <ErrorState
            title="Could not load the trend"
            error={error}
            recovers={isTransient(error)}
            query={query}
            action={<ButtonLink href={paths.benchmarkJobs()}>All jobs</ButtonLink>}
          />
        ) : !report ? (
          <SkeletonRows columns={6} label="Loading jobs" />
        ) : (
          <div className={query.isPlaceholderData ? 'space-y-6 opacity-60' : 'space-y-6'}>
            <StaleNotice query={query} />
            <Choices report={report} trend={trend} recent={recent.data ?? []} change={change} />
            <Trend report={report} choice={choiceOf(settled)} />
          </div>
        )
      ) : recentError ? (
        <ErrorState
          title="Could not load jobs"
          error={recentError}
          recovers={isTransient(recentError)}
          query={recent}
        />
      ) : recent.isPending ? (
        <SkeletonRows columns={6} label="Loading jobs" />
      ) : (
        <EmptyState
          icon={ChartLine}
          title="No job has an outcome yet"
          action={<ButtonLink href={paths.benchmarkJobs()}>Benchmark jobs</ButtonLink>}
        >
          A trend shows how an agent's score changes from job to job on the same scenarios.
        </EmptyState>
      )}
    </>
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
        label="Data set of job"
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
      <ScoreChoice report={report} threshold={trend.threshold} onChange={(part) => change(part, 'push')} />
    </div>
  )
}

const coverageText = ({ points, n_jobs_of_data_set: n, n_jobs_read: read, has_older_jobs }: TrendReport): string => {
  const jobs = `${formatCountOf(n, 'job')} on this data set`
  const newest = read === 1 ? 'the newest job' : `the newest ${formatCount(read)} jobs`
  const rest = has_older_jobs ? 'older jobs are not included' : 'there are no older jobs'
  return `Showing ${formatCountOf(points.length, 'run')} from ${jobs} in ${newest}; ${rest}.`
}

const Trend = ({ report, choice }: { report: TrendReport; choice: ReportChoice }) => {
  const { points, notes, verdict } = report
  const { lead, more, tone } = verdict
  const changed = points.filter(({ incomparable }) => incomparable.length > 0)
  return (
    <>
      <Banner tone={tone} role="status" title={<VisibleText max={800}>{lead}</VisibleText>}>
        {more.join(' ')}
      </Banner>
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
