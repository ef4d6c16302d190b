'use client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Ban, Bell, BellOff, ChartLine, CopyPlus, GitCompareArrows, RotateCcw, Upload } from 'lucide-react'
import dynamic from 'next/dynamic'
import { memo, useCallback, useEffect, useMemo, useState } from 'react'
import { alertMutations, alertQueries } from '#components/alerts/queries.ts'
import { DetailPage } from '#components/layout/detail-page.tsx'
import { type HowToChange, useAddress } from '#components/list/use-address.ts'
import { useSupport } from '#components/settings/support-queries.ts'
import { Badge } from '#components/ui/badge.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { toast } from '#components/ui/toast.tsx'
import { VisibleLines } from '#components/ui/visible-text.tsx'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { type BenchmarkJob, hasJobEnded, isJobActive } from '#lib/contract/benchmark-jobs.ts'
import { judgedBy } from '#lib/protocol/metrics.ts'
import { namesOf } from '#lib/protocol/report-words.ts'
import type { FailureGroupFigures, ReportChoice } from '#lib/protocol/reports.ts'
import { BenchmarkState } from '../benchmark-state.tsx'
import { comparePath } from '../compare/search-params.ts'
import { groupingKeys, metadataKeyOf, metadataPrefix } from '../grid/grid-view.ts'
import {
  type GridScale,
  gridScale,
  type ScenarioRow,
  scenarioRows,
  type Unscored,
  unscoredOf,
} from '../grid/scenario-grid.ts'
import { noFilter, ScenarioSection, scenarioSectionId } from '../grid/scenario-section.tsx'
import { GroupSection } from '../groups/group-section.tsx'
import { type AgentRow, activeRuns, agentRows, progressOf, scenarioIdsOf } from '../job-figures.ts'
import type { AttemptMarks } from '../marks/attempt-marks.ts'
import { ExclusionStrip } from '../marks/exclusion-strip.tsx'
import { LabelCounts } from '../marks/label-counts.tsx'
import { useMarks } from '../marks/use-marks.ts'
import { choiceOf } from '../report-params.ts'
import { benchmarkRunMutations } from '../run/queries.ts'
import { Progress } from '../score.tsx'
import { trendPath } from '../trend/search-params.ts'
import { FailureList } from './failure-list.tsx'
import { JobSource } from './job-source.tsx'
import { JobWarnings } from './job-warnings.tsx'
import { JudgmentSection, PairSection, useJobReport } from './judgment-section.tsx'
import { LostPointsTable } from './lost-points-table.tsx'
import { benchmarkJobQueries, followJob } from './queries.ts'
import { JobView, jobViewPath, type Suspicion } from './search-params.ts'
import { SuspiciousList, suspiciousScenarios } from './suspicious-list.tsx'

const JobProgress = dynamic(() => import('./job-progress.tsx').then((part) => part.JobProgress))
const ScoreAgainstCost = dynamic(async () => (await import('../cost/score-against-cost.tsx')).ScoreAgainstCost)
const JobPlots = dynamic(async () => (await import('./job-plots.tsx')).JobPlots)

export const JobDetail = ({ id }: { id: string }) => (
  <DetailPage kind="job" query={useQuery(benchmarkJobQueries.get(id))}>
    {(job) => <Job job={job} />}
  </DetailPage>
)

const Job = ({ job }: { job: BenchmarkJob }) => {
  const client = useQueryClient()
  const isActive = !hasJobEnded(job.state)
  useEffect(() => (isActive ? followJob(client, job.id) : undefined), [client, job.id, isActive])
  const path = useMemo(() => jobViewPath(job.id), [job.id])
  const { view, change } = useAddress({ schema: JobView, path })
  const { failures, metric, direction, threshold, exclusions } = choiceOf(view)
  const choice = useMemo(
    () => ({ failures, metric, direction, threshold, exclusions }),
    [failures, metric, direction, threshold, exclusions],
  )
  const group = metadataKeyOf(view.group) ?? undefined
  const grouped = useMemo(() => ({ ...choice, group }), [choice, group])
  const report = useJobReport(job, grouped)
  const judged = useMemo(() => judgedBy(job, metric), [job, metric])
  const { counted, marks, all } = useMarks(judged, exclusions !== 'ignore')
  const agents = useMemo(() => agentRows(counted), [counted])
  const ids = useMemo(() => scenarioIdsOf(job), [job])
  const known = useQuery({ ...benchmarkJobQueries.scenarios(job.id, ids), enabled: ids.length > 0 })
  const { data } = known
  const rows = useMemo(() => scenarioRows(counted, agents, data, choice), [counted, agents, data, choice])
  const allRows = useMemo(() => scenarioRows(judged, all, data, choice, marks), [judged, all, data, choice, marks])
  const groupKeys = useMemo(() => groupingKeys(allRows), [allRows])
  const scale = useMemo(() => gridScale(agents, choice), [agents, choice])
  const found = useMemo(() => suspiciousScenarios(rows, agents, job.job_spec), [rows, agents, job.job_spec])
  const unscored = useMemo(() => {
    // Rerun what has no score of the job, whichever metric is on screen.
    const own = metric === undefined ? all : agentRows(job)
    return unscoredOf(metric === undefined ? allRows : scenarioRows(job, own), own)
  }, [allRows, all, job, metric])
  const name = useMemo(() => namesOf(report.data?.agents ?? []), [report.data])
  const showLabel = (label: string) => showScenarios(change, { label, as: 'table' })
  return (
    <>
      <Header job={job} unscored={unscored} choice={choice} />
      <div className="space-y-8">
        <div className="space-y-4">
          {isJobActive(job.state) && <JobProgress job={job} agents={all} />}
          <JudgmentSection
            job={job}
            report={report}
            agents={agents}
            choice={grouped}
            columns={view.columns}
            change={change}
          />
          <Failures agents={agents} scale={scale} rows={allRows} marks={marks} change={change} />
          {report.data && (
            <>
              <ExclusionStrip report={report.data} name={name} onChange={(part) => change(part, 'replace')} />
              <LabelCounts jobId={job.id} report={report.data} name={name} marks={marks} onShow={showLabel} />
            </>
          )}
        </div>
        <JobWarnings warnings={job.warnings} agents={all} onShow={() => change({ environment: 'differs' }, 'push')} />
        {report.data && <PairSection report={report.data} choice={choice} />}
        {report.data && (
          <GroupSection
            report={report.data}
            name={name}
            keys={groupKeys}
            chosen={group}
            onChoose={(key) => change({ group: key && `${metadataPrefix}${key}` }, 'replace')}
          />
        )}
        {report.data && <ScoreAgainstCost report={report.data} name={name} />}
        {scale.is_unit_range && !scale.lower_is_better && (
          <JobPlots rows={rows} agents={agents} rule={failures} group={view.group} />
        )}
        <ScenarioSection
          jobId={job.id}
          rows={allRows}
          agents={agents}
          marks={marks}
          found={found}
          known={known}
          view={view}
          change={change}
        />
        <Findings found={found} rows={rows} agents={agents} scale={scale} change={change} />
        <JobSource job={job} />
      </div>
    </>
  )
}

interface HeaderProps {
  job: BenchmarkJob
  unscored: Unscored
  choice: ReportChoice
}

const Header = ({ job, unscored, choice }: HeaderProps) => (
  <>
    <PageHeader
      title={job.name.trim() || 'Unnamed job'}
      id={job.id}
      badge={
        <span role="status" className="inline-flex gap-1">
          <BenchmarkState of="job" state={job.state} />
          {job.job_source?.type === 'imported' && (
            <Badge tone="neutral" icon={Upload} title="Imported from files of a job that ran elsewhere">
              Imported
            </Badge>
          )}
        </span>
      }
      description={
        <span className="inline-flex flex-wrap items-center gap-x-4 gap-y-1">
          <span>
            Created <RelativeTime ms={job.create_time_ms} />
          </span>
          {!isJobActive(job.state) && (
            <span className="inline-flex items-center gap-2">
              Trials <Progress {...progressOf(job)} label="Job progress" />
            </span>
          )}
        </span>
      }
      actions={
        <>
          <ButtonLink href={trendPath({ job: job.id, ...choice })} prefetch={false} icon={ChartLine}>
            Trend
          </ButtonLink>
          <ButtonLink href={comparePath({ jobs: job.id, ...choice })} prefetch={false} icon={GitCompareArrows}>
            Compare
          </ButtonLink>
          <JobActions job={job} unscored={unscored} />
        </>
      }
    />
    {job.failure_reason && (
      <Banner tone="danger" className="mb-4 rounded-md" title="The job failed">
        <span className="whitespace-pre-wrap">
          <VisibleLines max={4000}>{job.failure_reason}</VisibleLines>
        </span>
      </Banner>
    )}
  </>
)

type Change = (part: Partial<JobView>, how: HowToChange) => void

const showScenarios = (change: Change, part: Partial<JobView>) => {
  change({ ...noFilter, ...part }, 'push')
  document.getElementById(scenarioSectionId)?.scrollIntoView()
}

interface FigureProps {
  agents: readonly AgentRow[]
  scale: GridScale
  change: Change
}

interface FailuresProps extends FigureProps {
  rows: readonly ScenarioRow[]
  marks: AttemptMarks
}

const Failures = ({ change, rows, marks, ...props }: FailuresProps) => {
  const { agents } = props
  const show = useCallback(
    ({ key }: FailureGroupFigures) => showScenarios(change, { failure: key, as: 'table' }),
    [change],
  )
  const openFirst = useCallback(
    ({ first: { benchmark_run_id: run, scenario_id: scenario, attempt } }: FailureGroupFigures) => {
      const cell = rows.find(({ id }) => id === scenario)?.cells[agents.findIndex(({ key }) => key === run)]
      const counted = cell?.attempts.filter((each) => !marks.get(each)?.isExcluded) ?? []
      const found = counted[attempt - 1]
      const at = found ? (cell?.attempts.indexOf(found) ?? 0) : 0
      change({ scenario, run, attempt: at === 0 ? undefined : at + 1 }, 'replace')
    },
    [change, rows, agents, marks],
  )
  return <FailureList {...props} onShow={show} onOpenFirst={openFirst} />
}

interface FindingsProps extends FigureProps {
  found: Record<Suspicion, readonly ScenarioRow[]>
  rows: readonly ScenarioRow[]
}

const Findings = memo(({ found, rows, agents, scale, change }: FindingsProps) => (
  <>
    {/* Other score ranges have no maximum. */}
    {scale.is_unit_range && !scale.lower_is_better && <LostPointsTable rows={rows} agents={agents} />}
    <SuspiciousList
      found={found}
      rows={rows}
      hasThreshold={scale.threshold !== null}
      onSearch={({ name }) => showScenarios(change, { search: name })}
      onShowAll={(suspicious) => showScenarios(change, { suspicious })}
    />
  </>
))

const RunAgainDialog = dynamic(async () => (await import('./run-again-dialog.tsx')).RunAgainDialog)

const JobActions = ({ job, unscored }: { job: BenchmarkJob; unscored: Unscored }) => {
  const [opened, setOpened] = useState<'rerun' | 'clone' | null>(null)
  const hasEnded = hasJobEnded(job.state)
  return (
    <>
      {!hasEnded && <RunningJobActions job={job} />}
      <Button
        icon={RotateCcw}
        needs="benchmarkJobs.create"
        disabledReason={rerunRefusal(job, unscored)}
        onClick={() => setOpened('rerun')}
      >
        Rerun failed
      </Button>
      <Button
        icon={CopyPlus}
        needs="benchmarkJobs.create"
        disabledReason={isImported(job) ? `${imported}; its tasks and agents are not on this service` : null}
        onClick={() => setOpened('clone')}
      >
        Clone job
      </Button>
      {opened !== null && (
        <RunAgainDialog job={job} of={opened === 'clone' ? 'all' : unscored} onClose={() => setOpened(null)} />
      )}
    </>
  )
}

const imported = 'The job was imported'
const isImported = ({ job_source }: BenchmarkJob) => job_source?.type === 'imported'

const rerunRefusal = (job: BenchmarkJob, { attempts }: Unscored): string | null => {
  if (isImported(job)) return `${imported}; rerun it where it ran`
  if (!hasJobEnded(job.state)) return `The job is ${job.state}`
  return attempts === 0 ? 'Every finished attempt has a score' : null
}

const RunningJobActions = ({ job }: { job: BenchmarkJob }) => {
  const [isConfirming, setIsConfirming] = useState(false)
  const cancel = useMutation(benchmarkRunMutations.cancelJob())
  const runs = activeRuns(job)
  const byRun = useSupport('benchmarkJobs.cancel') === 'no'
  return (
    <>
      <FollowButton job={job} />
      <Button
        icon={Ban}
        needs={byRun ? 'benchmarkRuns.cancel' : 'benchmarkJobs.cancel'}
        busy={cancel.isPending}
        disabledReason={cancel.isSuccess ? 'The job is being canceled' : null}
        onClick={() => {
          cancel.reset()
          setIsConfirming(true)
        }}
      >
        Cancel job
      </Button>
      <ConfirmDialog
        open={isConfirming}
        onOpenChange={setIsConfirming}
        title="Cancel job?"
        consequence={<Consequence job={job} runs={runs.length} byRun={byRun} />}
        needs={byRun ? 'benchmarkRuns.cancel' : 'benchmarkJobs.cancel'}
        confirmLabel="Cancel job"
        busy={cancel.isPending}
        error={cancel.error}
        onConfirm={() => cancel.mutate({ id: job.id, runs, byRun }, { onSuccess: () => setIsConfirming(false) })}
      />
    </>
  )
}

const Consequence = ({ job, runs, byRun }: { job: BenchmarkJob; runs: number; byRun: boolean }) => {
  const { finished, total } = progressOf(job)
  return (
    <>
      <p>
        {runs === 0
          ? 'No run has started yet; none will start.'
          : `${formatCountOf(runs, 'run is', 'runs are')} active. Running scenarios will be canceled and their devboxes shut down; no more will start.`}
      </p>
      <p>
        {total === null
          ? `${formatCount(finished)} finished trials keep their outcomes.`
          : `${formatCount(finished)} of ${formatCount(total)} trials are finished and keep their outcomes; the other ${formatCount(total - finished)} get no score.`}{' '}
        This can't be undone.
      </p>
      {byRun && <p>This service can't cancel a whole job, so its runs are canceled one by one.</p>}
    </>
  )
}

const FollowButton = ({ job: { id } }: { job: BenchmarkJob }) => {
  const { data: feed } = useQuery(alertQueries.feed())
  const follow = useMutation(alertMutations.followJob())
  const unfollow = useMutation(alertMutations.unfollowJob())
  const isFollowed = feed.followedJobs.includes(id)
  const change = isFollowed ? unfollow : follow
  return (
    <Button
      icon={isFollowed ? BellOff : Bell}
      needs="/api/alerts"
      busy={change.isPending}
      onClick={() =>
        change.mutate(id, {
          onError: toast.failed(isFollowed ? "Couldn't unfollow the job" : "Couldn't follow the job"),
        })
      }
    >
      {isFollowed ? 'Unfollow' : 'Follow'}
    </Button>
  )
}
