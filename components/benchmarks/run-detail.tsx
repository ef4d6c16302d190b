'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Ban, SearchX } from 'lucide-react'
import { useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { useShownError } from '#components/ui/use-shown-error.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { isMissing, isPassing } from '#lib/console/api/failures.ts'
import { formatCount, formatDurationMs } from '#lib/console/frame/format.ts'
import { benchmarkRunMutations, benchmarkRunQueries } from '#lib/console/queries/benchmark-runs.ts'
import { type BenchmarkRun, benchmarkRunRefusal } from '#lib/contract/benchmark-runs.ts'
import { hasScenarioRunEnded, type ScenarioRunList } from '#lib/contract/scenario-runs.ts'
import { BenchmarkState, CancellingBadge } from './benchmark-state.tsx'
import { LogDownload } from './log-download.tsx'
import { ScenarioRunTable } from './scenario-run-table.tsx'
import { RunScore } from './score.tsx'

export const RunDetail = ({ id }: { id: string }) => {
  const run = useQuery(benchmarkRunQueries.get(id))
  const scenarioRuns = useQuery(benchmarkRunQueries.scenarioRuns(id))
  const error = useShownError(run)
  if (!run.data) {
    if (isMissing(error)) return <RunMissing />
    if (!error) return <SkeletonRows columns={4} label="Loading the run" />
    return (
      <ErrorState
        title="The run could not be loaded"
        error={error}
        recovers={isPassing(error)}
        retrying={run.isFetching}
        onRetry={() => void run.refetch()}
        action={<ButtonLink href={paths.benchmarkRuns()}>All runs</ButtonLink>}
      />
    )
  }
  return (
    <>
      {run.isRefetchError && (
        <Banner tone="attention" role="status" className="mb-4 rounded-md" title="What is shown is old">
          It was read <RelativeTime ms={run.dataUpdatedAt} /> and could not be read since:{' '}
          {problemOf(run.error).message}
        </Banner>
      )}
      <Header run={run.data} scenarioRuns={scenarioRuns.data} />
      <Facts run={run.data} />
      <section aria-label="Scenario runs" className="mt-8 space-y-2">
        <h2 className="text-lg font-medium">Scenario runs</h2>
        {scenarioRuns.data ? (
          <ScenarioRunTable list={scenarioRuns.data} />
        ) : scenarioRuns.error ? (
          <ErrorState
            title="The scenario runs could not be loaded"
            error={scenarioRuns.error}
            retrying={scenarioRuns.isFetching}
            onRetry={() => void scenarioRuns.refetch()}
          />
        ) : (
          <SkeletonRows columns={4} label="Loading scenario runs" />
        )}
      </section>
    </>
  )
}

export const RunMissing = () => (
  <EmptyState
    icon={SearchX}
    title="There is no benchmark run with this id"
    titleAs="h1"
    action={<ButtonLink href={paths.benchmarkRuns()}>All runs</ButtonLink>}
  >
    It may belong to another account, or the address may be mistyped.
  </EmptyState>
)

const Header = ({ run, scenarioRuns }: { run: BenchmarkRun; scenarioRuns: ScenarioRunList | undefined }) => {
  const [isAsking, setIsAsking] = useState(false)
  const { data: hasAsked } = useQuery(benchmarkRunQueries.cancelling(run.id))
  const cancel = useMutation(benchmarkRunMutations.cancel())
  const isCancelling = hasAsked && run.state === 'running'
  return (
    <PageHeader
      back={{ href: paths.benchmarkRuns(), label: 'Benchmark runs' }}
      title={run.name ? <VisibleText max={200}>{run.name}</VisibleText> : 'Unnamed run'}
      id={run.id}
      badge={
        <span role="status">{isCancelling ? <CancellingBadge /> : <BenchmarkState of="run" state={run.state} />}</span>
      }
      actions={
        <>
          <LogDownload run={run} />
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
        {formatCount(done)} completed {done === 1 ? 'scenario keeps its' : 'scenarios keep their'} score; the score of
        the run comes from {done === 1 ? 'it' : 'them'}. This cannot be undone.
      </p>
    </>
  )
}

const Facts = ({ run }: { run: BenchmarkRun }) => (
  <dl className="grid grid-cols-[minmax(7rem,auto)_minmax(0,1fr)] gap-x-6 gap-y-2">
    <dt className="text-muted">Score</dt>
    <dd>
      <RunScore run={run} />
    </dd>
    <dt className="text-muted">Started</dt>
    <dd>
      <RelativeTime ms={run.start_time_ms} />
      {run.duration_ms != null && `, took ${formatDurationMs(run.duration_ms)}`}
    </dd>
    {run.purpose && (
      <>
        <dt className="text-muted">Purpose</dt>
        <dd>
          <VisibleText max={2_000}>{run.purpose}</VisibleText>
        </dd>
      </>
    )}
    <dt className="text-muted">Metadata</dt>
    <dd>
      <MetadataChips
        metadata={run.metadata}
        hrefFor={(key, value) => paths.benchmarkRuns({ metadata: [{ key, op: 'eq', value }] })}
        empty={<span className="text-muted">None</span>}
      />
    </dd>
    {Object.keys(run.secrets_provided ?? {}).length > 0 && (
      <>
        <dt className="text-muted">Secrets</dt>
        <dd className="font-mono text-sm break-all">{Object.keys(run.secrets_provided ?? {}).join(', ')}</dd>
      </>
    )}
  </dl>
)
