'use client'
import { useMutation } from '@tanstack/react-query'
import { Ban, CopyPlus, RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
import { formatCount } from '#lib/console/frame/format.ts'
import { benchmarkRunMutations } from '#lib/console/queries/benchmark-runs.ts'
import { type BenchmarkJob, hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { progressOf } from '../job-figures.ts'
import { FollowButton } from './follow-button.tsx'
import type { Unscored } from './run-again.ts'

const ConfirmDialog = loadOnUse(async () => (await import('#components/ui/confirm-dialog.tsx')).ConfirmDialog)
const RunAgainDialog = loadOnUse(async () => (await import('./run-again-dialog.tsx')).RunAgainDialog)

/** Follow, cancel, run anew what has no score, clone. */
export const JobActions = ({ job, unscored }: { job: BenchmarkJob; unscored: Unscored }) => {
  const [opened, setOpened] = useState<'cancel' | 'rerun' | 'clone' | null>(null)
  const cancel = useMutation(benchmarkRunMutations.cancelJob())
  const runs = goingRuns(job)
  return (
    <>
      {!hasJobEnded(job.state) && <FollowButton job={job} />}
      {!hasJobEnded(job.state) && (
        <Button
          icon={Ban}
          busy={cancel.isPending}
          disabledReason={cancel.isSuccess ? 'The job is being cancelled' : null}
          onClick={() => {
            cancel.reset()
            setOpened('cancel')
          }}
        >
          Cancel job
        </Button>
      )}
      <Button
        icon={RotateCcw}
        disabledReason={
          !hasJobEnded(job.state)
            ? 'The job goes on'
            : unscored.attempts === 0
              ? 'Every attempt that has ended has a score'
              : null
        }
        onClick={() => setOpened('rerun')}
      >
        Rerun failed
      </Button>
      <Button icon={CopyPlus} onClick={() => setOpened('clone')}>
        Clone job
      </Button>
      <ConfirmDialog
        open={opened === 'cancel'}
        onOpenChange={(isOpen) => isOpen || setOpened(null)}
        title="Cancel job?"
        consequence={<Consequence job={job} runs={runs.length} />}
        confirmLabel="Cancel job"
        busy={cancel.isPending}
        error={cancel.error}
        onConfirm={() => cancel.mutate({ id: job.id, runs }, { onSuccess: () => setOpened(null) })}
      />
      {(opened === 'rerun' || opened === 'clone') && (
        <RunAgainDialog job={job} of={opened === 'clone' ? 'all' : unscored} onClose={() => setOpened(null)} />
      )}
    </>
  )
}

const goingRuns = (job: BenchmarkJob): string[] =>
  (job.in_progress_runs ?? []).flatMap(({ state, benchmark_run_id }) => (state === 'running' ? benchmark_run_id : []))

const Consequence = ({ job, runs }: { job: BenchmarkJob; runs: number }) => {
  const { finished, total } = progressOf(job)
  return (
    <>
      <p>
        {runs === 0
          ? 'The job has no run yet; none will be started.'
          : `${formatCount(runs)} ${runs === 1 ? 'run goes' : 'runs go'} on. Scenarios that run now are cancelled and their devboxes shut down; no more are started.`}
      </p>
      <p>
        {total === null
          ? `${formatCount(finished)} trials have ended and keep their outcomes.`
          : `${formatCount(finished)} of ${formatCount(total)} trials have ended and keep their outcomes; the other ${formatCount(total - finished)} get no score.`}{' '}
        This cannot be undone.
      </p>
    </>
  )
}
