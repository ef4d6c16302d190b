'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Ban, Bell, BellOff, CopyPlus, RotateCcw } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { alertMutations, alertQueries } from '#components/alerts/queries.ts'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { toast } from '#components/ui/toast.tsx'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { type BenchmarkJob, hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import type { Unscored } from '../grid/scenario-grid.ts'
import { activeRuns, progressOf } from '../job-figures.ts'
import { benchmarkRunMutations } from '../run/queries.ts'

const RunAgainDialog = dynamic(async () => (await import('./run-again-dialog.tsx')).RunAgainDialog)

export const JobActions = ({ job, unscored }: { job: BenchmarkJob; unscored: Unscored }) => {
  const [opened, setOpened] = useState<'rerun' | 'clone' | null>(null)
  const hasEnded = hasJobEnded(job.state)
  return (
    <>
      {!hasEnded && <RunningJobActions job={job} />}
      <Button icon={RotateCcw} disabledReason={rerunRefusal(job, unscored)} onClick={() => setOpened('rerun')}>
        Rerun failed
      </Button>
      <Button
        icon={CopyPlus}
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
  return (
    <>
      <FollowButton job={job} />
      <Button
        icon={Ban}
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
        consequence={<Consequence job={job} runs={runs.length} />}
        confirmLabel="Cancel job"
        busy={cancel.isPending}
        error={cancel.error}
        onConfirm={() => cancel.mutate({ id: job.id, runs }, { onSuccess: () => setIsConfirming(false) })}
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
          ? 'No run has started yet; none will start.'
          : `${formatCountOf(runs, 'run is', 'runs are')} active. Running scenarios will be canceled and their devboxes shut down; no more will start.`}
      </p>
      <p>
        {total === null
          ? `${formatCount(finished)} finished trials keep their outcomes.`
          : `${formatCount(finished)} of ${formatCount(total)} trials are finished and keep their outcomes; the other ${formatCount(total - finished)} get no score.`}{' '}
        This cannot be undone.
      </p>
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
      busy={change.isPending}
      onClick={() =>
        change.mutate(id, {
          onError: toast.failed(isFollowed ? 'Could not unfollow the job' : 'Could not follow the job'),
        })
      }
    >
      {isFollowed ? 'Unfollow' : 'Follow'}
    </Button>
  )
}
