'use client'
import { type UseQueryResult, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Ban } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useEffect, useMemo, useState } from 'react'
import { DetailPage } from '#components/layout/detail-page.tsx'
import { useAddress } from '#components/list/use-address.ts'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { Tabs } from '#components/ui/tabs.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatCountOf, formatDurationMs } from '#lib/browser/format.ts'
import { type BenchmarkRun, benchmarkRunRefusal } from '#lib/contract/benchmark-runs.ts'
import { hasScenarioRunEnded, type ScenarioRunList } from '#lib/contract/scenario-runs.ts'
import { sumOf } from '#lib/statistics/means.ts'
import { BenchmarkState, CancellingBadge } from '../benchmark-state.tsx'
import { formatScore } from '../job-figures.ts'
import { LogDownload } from '../logs/log-download.tsx'
import { AgentName } from '../score.tsx'
import { RunUsageText } from '../usage-text.tsx'
import { benchmarkRunMutations, benchmarkRunQueries, downloadRunLogs, followRun, ownOrigin } from './queries.ts'
import { RunScore } from './run-score.tsx'
import { metricOfRuns, ScenarioRunTable } from './scenario-run-table.tsx'
import { RunView, runViewPath, showsLogs } from './search-params.ts'

const RunLogs = dynamic(() => import('../logs/run-logs.tsx').then((tab) => tab.RunLogs))

export const RunDetail = ({ id }: { id: string }) => (
  <DetailPage kind="run" query={useQuery(benchmarkRunQueries.get(id))}>
    {(run) => <Run run={run} />}
  </DetailPage>
)

const Run = ({ run }: { run: BenchmarkRun }) => {
  const scenarioRuns = useQuery(benchmarkRunQueries.scenarioRuns(run.id))
  const client = useQueryClient()
  const goesOn = run.state === 'running' || scenarioRuns.data?.runs.some(({ state }) => !hasScenarioRunEnded(state))
  useEffect(() => (goesOn ? followRun(client, run.id) : undefined), [client, run.id, goesOn])
  const path = useMemo(() => runViewPath(run.id), [run.id])
  const address = useAddress({ schema: RunView, path })
  const isOfLogs = showsLogs(address.view)
  return (
    <>
      <Header run={run} scenarioRuns={scenarioRuns.data} tab={isOfLogs ? 'logs' : 'overview'} />
      {isOfLogs ? (
        <RunLogs runId={run.id} goesOn={Boolean(goesOn)} path={path} {...address} />
      ) : (
        <Overview run={run} scenarioRuns={scenarioRuns} />
      )}
    </>
  )
}

const Overview = ({ run, scenarioRuns }: { run: BenchmarkRun; scenarioRuns: UseQueryResult<ScenarioRunList> }) => {
  return (
    <>
      <RunFacts run={run} scenarioRuns={scenarioRuns.data} />
      <section aria-label="Scenario runs" className="mt-8 space-y-2">
        <h2 className="text-lg font-medium">Scenario runs</h2>
        {scenarioRuns.data ? (
          <ScenarioRunTable list={scenarioRuns.data} />
        ) : scenarioRuns.error ? (
          <ErrorState title="The scenario runs could not be loaded" error={scenarioRuns.error} query={scenarioRuns} />
        ) : (
          <SkeletonRows columns={4} label="Loading scenario runs" />
        )}
      </section>
    </>
  )
}

interface HeaderProps {
  run: BenchmarkRun
  scenarioRuns: ScenarioRunList | undefined
  tab: 'overview' | 'logs'
}

const Header = ({ run, scenarioRuns, tab }: HeaderProps) => {
  const [isAsking, setIsAsking] = useState(false)
  const { data: hasAsked } = useQuery(benchmarkRunQueries.cancelling(run.id))
  const cancel = useMutation(benchmarkRunMutations.cancel())
  const isCancelling = hasAsked && run.state === 'running'
  return (
    <PageHeader
      title={run.name || 'Unnamed run'}
      id={run.id}
      badge={
        <span role="status">{isCancelling ? <CancellingBadge /> : <BenchmarkState of="run" state={run.state} />}</span>
      }
      actions={
        <>
          <LogDownload id={run.id} name={run.name} request={downloadRunLogs} />
          <Button
            icon={Ban}
            busy={cancel.isPending}
            disabledReason={
              isCancelling
                ? 'The run is being cancelled'
                : run.state === 'canceled'
                  ? 'The run is cancelled already'
                  : benchmarkRunRefusal('cancel', run.state)
            }
            onClick={() => {
              cancel.reset()
              setIsAsking(true)
            }}
          >
            Cancel run
          </Button>
        </>
      }
    >
      <Tabs
        label="Benchmark run"
        current={tab}
        tabs={[
          { id: 'overview', label: 'Overview', href: paths.benchmarkRun(run.id) },
          { id: 'logs', label: 'Logs', href: runViewPath(run.id)({ tab: 'logs' }) },
        ]}
      />
      {isAsking && (
        <ConfirmDialog
          open
          onOpenChange={setIsAsking}
          title="Cancel run?"
          consequence={<Consequence list={scenarioRuns} />}
          confirmLabel="Cancel run"
          busy={cancel.isPending}
          error={cancel.error}
          onConfirm={() => cancel.mutate(run.id, { onSuccess: () => setIsAsking(false) })}
        />
      )}
    </PageHeader>
  )
}

const Consequence = ({ list }: { list: ScenarioRunList | undefined }) => {
  if (!list) return <p>All of its running scenarios are cancelled and their devboxes shut down.</p>
  const going = list.runs.filter(({ state }) => !hasScenarioRunEnded(state)).length
  const done = list.runs.filter(({ state }) => state === 'completed').length
  const more = list.has_more ? 'at least ' : ''
  return (
    <>
      <p>
        {going === 0 && !list.has_more
          ? 'No scenario is running now; none will be started any more.'
          : `${more}${formatCount(going)} running ${going === 1 && !more ? 'scenario' : 'scenarios'} will be cancelled and their devboxes shut down.`}
      </p>
      <p>
        {formatCountOf(done, 'completed scenario keeps its', 'completed scenarios keep their')} score; the score of the
        run comes from {done === 1 ? 'it' : 'them'}. This cannot be undone.
      </p>
    </>
  )
}

const RunFacts = ({ run, scenarioRuns }: { run: BenchmarkRun; scenarioRuns: ScenarioRunList | undefined }) => {
  const secrets = Object.entries(run.secrets_provided ?? {})
  const variables = Object.entries(run.environment_variables ?? {})
  const metric = run.score == null ? null : metricOfRuns(scenarioRuns?.runs ?? [])
  return (
    <Facts>
      <Fact label="Score">
        <RunScore run={run} outcomes={scenarioRuns && !scenarioRuns.has_more ? scenarioRuns.runs.length : undefined} />
        {metric && (
          <span className="text-muted">
            {' '}
            of <VisibleText max={80}>{metric}</VisibleText>
          </span>
        )}
        {run.score != null && scenarioRuns && (
          <p className="tabular text-sm text-muted">
            {scoreWords(run.score, scenarioRuns, run.job_id == null ? 'scenario runs' : 'trials')}
            {missingWords(run)}
          </p>
        )}
      </Fact>
      <Origin run={run} />
      <Fact label="Started">
        <RelativeTime ms={run.start_time_ms} />
        {run.duration_ms != null && `, took ${formatDurationMs(run.duration_ms)}`}
        {run.duration_ms == null && run.start_time_ms !== null && run.state !== 'running' && ', duration unknown'}
      </Fact>
      {run.usage && (
        <Fact label="Tokens and cost">
          <RunUsageText usage={run.usage} all={run.n_scenario_runs ?? null} />
        </Fact>
      )}
      {run.purpose && (
        <Fact label="Purpose">
          <VisibleText max={2_000}>{run.purpose}</VisibleText>
        </Fact>
      )}
      <Fact label="Metadata">
        <MetadataChips
          metadata={run.metadata}
          hrefFor={(key, value) => paths.benchmarkRuns({ metadata: [{ key, op: 'eq', value }] })}
          empty={<span className="text-muted">None</span>}
        />
      </Fact>
      {variables.length > 0 && (
        <Fact label="Environment" className="font-mono text-sm break-all">
          {variables.map(([name, value]) => (
            <div key={name}>
              <VisibleText max={120}>{name}</VisibleText>=<VisibleText max={400}>{value}</VisibleText>
            </div>
          ))}
        </Fact>
      )}
      {secrets.length > 0 && (
        <Fact label="Secrets" className="font-mono text-sm break-all">
          {secrets.map(([name, secret]) => (
            <div key={name}>
              <VisibleText max={120}>{name}</VisibleText> <span className="font-sans text-muted">from the secret</span>{' '}
              <VisibleText max={120}>{secret}</VisibleText>
            </div>
          ))}
        </Fact>
      )}
    </Facts>
  )
}

/** The job and the agent of a run; nothing for one that a script started. */
const Origin = ({ run }: { run: BenchmarkRun }) => {
  const own = ownOrigin(run)
  const { data: found } = useQuery({ ...benchmarkRunQueries.origin(run), enabled: own === null })
  const origin = own ?? found
  if (!origin) return null
  return (
    <>
      <Fact label="Agent">
        <AgentName name={origin.agent_name} model={origin.model_name} />
      </Fact>
      <Fact label="Job">
        <TextLink href={paths.benchmarkJob(origin.job_id)} prefetch={false}>
          <VisibleText max={200}>{origin.job_name}</VisibleText>
        </TextLink>
      </Fact>
    </>
  )
}

/** Planned trials that a run has ended without. */
export const missingWords = ({ state, n_scenario_runs, n_total_trials }: BenchmarkRun): string => {
  if (state === 'running' || n_scenario_runs == null || n_total_trials == null) return ''
  const missing = n_total_trials - n_scenario_runs
  return missing > 0 ? ` ${formatCount(missing)} of ${formatCount(n_total_trials)} planned trials are missing.` : ''
}

/** The sum behind the score of a run that has ended: what has none counts 0. */
export const scoreWords = (
  score: number,
  { runs, has_more, total_count }: ScenarioRunList,
  nouns = 'scenario runs',
): string => {
  // A score that a service tells as no number is none.
  const scores = runs.flatMap(({ state, scoring_contract_result: result }) =>
    state === 'completed' && result && Number.isFinite(result.score) ? [result.score] : [],
  )
  const sum = sumOf(scores)
  if (has_more)
    return `Not checked here, where only ${formatCount(runs.length)}${total_count == null ? '' : ` of ${formatCount(total_count)}`} ${nouns} are listed: usually the sum of the scores, divided by all ${nouns}, those without a score among them.`
  const points = `${formatScore(sum)} points over ${formatCount(runs.length)} ${nouns}`
  const others = runs.length - scores.length
  // A service may take its score over something else, and does not say over what.
  if (runs.length === 0 || Math.abs(sum / runs.length - score) > 0.0005 * Math.max(1, Math.abs(score)))
    return `Computed otherwise: here are ${points}${runs.length === 0 ? '' : `, a mean of ${formatScore(sum / runs.length)}`}.`
  return others === 0
    ? `${points}.`
    : `${points}; ${formatCount(others)} without a score ${others === 1 ? 'counts' : 'count'} 0.`
}
