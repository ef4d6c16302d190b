'use client'
import { useMutation } from '@tanstack/react-query'
import { Ban } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { goingRuns, progressOf } from '../job-figures.ts'
import { benchmarkRunMutations } from '../run/queries.ts'
import { FollowButton } from './follow-button.tsx'

const ConfirmDialog = loadOnUse(async () => (await import('#components/ui/confirm-dialog.tsx')).ConfirmDialog)

/** What can be done with a job before its end. */
export const RunningJobActions = ({ job }: { job: BenchmarkJob }) => {
  const [isAsking, setIsAsking] = useState(false)
  const cancel = useMutation(benchmarkRunMutations.cancelJob())
  const runs = goingRuns(job)
  return (
    <>
      <FollowButton job={job} />
      <Button
        icon={Ban}
        busy={cancel.isPending}
        disabledReason={cancel.isSuccess ? 'The job is being cancelled' : null}
        onClick={() => {
          cancel.reset()
          setIsAsking(true)
        }}
      >
        Cancel job
      </Button>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setIsAsking}
        title="Cancel job?"
        consequence={<Consequence job={job} runs={runs.length} />}
        confirmLabel="Cancel job"
        busy={cancel.isPending}
        error={cancel.error}
        onConfirm={() => cancel.mutate({ id: job.id, runs }, { onSuccess: () => setIsAsking(false) })}
      />
    </>
  )
}

const Consequence = ({ job, runs }: { job: BenchmarkJob; runs: number }) => {
  const { finished, total } = progressOf(job)
  return (
    <>
      <p>
        {runs === 0
          ? 'The job has no run yet; none will be started.'
          : `${formatCountOf(runs, 'run goes', 'runs go')} on. Scenarios that run now are cancelled and their devboxes shut down; no more are started.`}
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
