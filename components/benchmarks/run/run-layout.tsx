'use client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Ban, LoaderCircle } from 'lucide-react'
import { useSelectedLayoutSegment } from 'next/navigation'
import { type ReactNode, useEffect, useState } from 'react'
import { DetailPage } from '#components/layout/detail-page.tsx'
import { Badge } from '#components/ui/badge.tsx'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { Tabs } from '#components/ui/tabs.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { type BenchmarkRun, benchmarkRunRefusal } from '#lib/contract/benchmark-runs.ts'
import { hasScenarioRunEnded, type ScenarioRunList } from '#lib/contract/scenario-runs.ts'
import { BenchmarkState } from '../benchmark-state.tsx'
import { LogDownload } from '../logs/log-download.tsx'
import { benchmarkRunMutations, benchmarkRunQueries, downloadRunLogs, followRun } from './queries.ts'
import { runLogsPath } from './search-params.ts'

export const RunLayout = ({ id, children }: { id: string; children: ReactNode }) => (
  <DetailPage kind="run" query={useQuery(benchmarkRunQueries.get(id))}>
    {(run) => (
      <>
        <RunHeader run={run} />
        {children}
      </>
    )}
  </DetailPage>
)

/** Scenario runs may still be active after their run was canceled. */
export const useIsRunActive = (id: string): boolean => {
  const { data: run } = useQuery(benchmarkRunQueries.get(id))
  const { data: scenarioRuns } = useQuery(benchmarkRunQueries.scenarioRuns(id))
  return run?.state === 'running' || Boolean(scenarioRuns?.runs.some(({ state }) => !hasScenarioRunEnded(state)))
}

const RunHeader = ({ run }: { run: BenchmarkRun }) => {
  const client = useQueryClient()
  const isActive = useIsRunActive(run.id)
  useEffect(() => (isActive ? followRun(client, run.id) : undefined), [client, run.id, isActive])
  const segment = useSelectedLayoutSegment()
  const [isConfirming, setIsConfirming] = useState(false)
  const { data: scenarioRuns } = useQuery(benchmarkRunQueries.scenarioRuns(run.id))
  const { data: isCancelRequested } = useQuery(benchmarkRunQueries.canceling(run.id))
  const cancel = useMutation(benchmarkRunMutations.cancel())
  const isCanceling = isCancelRequested && run.state === 'running'
  return (
    <PageHeader
      title={run.name || 'Unnamed run'}
      id={run.id}
      badge={
        <span role="status">
          {isCanceling ? (
            <Badge tone="progress" icon={LoaderCircle} busy>
              Canceling
            </Badge>
          ) : (
            <BenchmarkState of="run" state={run.state} />
          )}
        </span>
      }
      actions={
        <>
          <LogDownload id={run.id} name={run.name} request={downloadRunLogs} />
          <Button
            icon={Ban}
            needs="benchmarkRuns.cancel"
            busy={cancel.isPending}
            disabledReason={
              isCanceling
                ? 'The run is being canceled'
                : run.state === 'canceled'
                  ? 'The run is already canceled'
                  : benchmarkRunRefusal('cancel', run.state)
            }
            onClick={() => {
              cancel.reset()
              setIsConfirming(true)
            }}
          >
            Cancel run
          </Button>
        </>
      }
    >
      <Tabs
        label="Benchmark run"
        current={segment === 'logs' ? 'logs' : 'overview'}
        tabs={[
          { id: 'overview', label: 'Overview', href: paths.benchmarkRun(run.id) },
          { id: 'logs', label: 'Logs', href: runLogsPath(run.id)() },
        ]}
      />
      {isConfirming && (
        <ConfirmDialog
          open
          onOpenChange={setIsConfirming}
          title="Cancel run?"
          consequence={<CancelConsequence list={scenarioRuns} />}
          needs="benchmarkRuns.cancel"
          confirmLabel="Cancel run"
          busy={cancel.isPending}
          error={cancel.error}
          onConfirm={() => cancel.mutate(run.id, { onSuccess: () => setIsConfirming(false) })}
        />
      )}
    </PageHeader>
  )
}

const CancelConsequence = ({ list }: { list: ScenarioRunList | undefined }) => {
  if (!list) return <p>All running scenarios will be canceled and their devboxes shut down.</p>
  const active = list.runs.filter(({ state }) => !hasScenarioRunEnded(state)).length
  const completed = list.runs.filter(({ state }) => state === 'completed').length
  const atLeast = list.has_more ? 'At least ' : ''
  return (
    <>
      <p>
        {active === 0 && !list.has_more
          ? 'No scenario is running; no more will start.'
          : `${atLeast}${formatCount(active)} running ${active === 1 && !atLeast ? 'scenario' : 'scenarios'} will be canceled and their devboxes shut down.`}
      </p>
      <p>
        {formatCountOf(completed, 'completed scenario keeps its', 'completed scenarios keep their')} score. This can't
        be undone.
      </p>
    </>
  )
}
