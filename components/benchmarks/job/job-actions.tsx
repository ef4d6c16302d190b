'use client'
import { CopyPlus, RotateCcw } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { type BenchmarkJob, hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import type { Unscored } from './run-again.ts'

const RunningJobActions = dynamic(() => import('./running-job-actions.tsx').then((part) => part.RunningJobActions))
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
