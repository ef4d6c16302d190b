'use client'
import { useMutation } from '@tanstack/react-query'
import { Ban, ChartLine, GitCompareArrows } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { type RowAction, SelectionBar } from '#components/list/selection-bar.tsx'
import { Button } from '#components/ui/button.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { type BenchmarkJob, hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { maxCompared } from './compare/search-params.ts'
import { activeRuns } from './job-figures.ts'
import { benchmarkRunMutations } from './run/queries.ts'
import { trendPath } from './trend/search-params.ts'

interface JobSelectionProps {
  jobs: readonly BenchmarkJob[]
  onClear: () => void
}

/** What can be done to the jobs that are selected, and with them together. */
export const JobSelection = ({ jobs, onClear }: JobSelectionProps) => {
  const router = useRouter()
  const cancel = useMutation(benchmarkRunMutations.cancelJob())
  const actions: RowAction<BenchmarkJob>[] = [
    {
      icon: Ban,
      verb: 'Cancel',
      done: 'Cancelled',
      failed: 'Not every job was cancelled',
      consequence: (count) =>
        `What ${count} still run is cancelled and the devboxes of it are shut down; no more trials are started. Trials that have ended keep their outcomes. This cannot be undone.`,
      isFinal: true,
      isEligible: ({ state }) => !hasJobEnded(state),
      act: (job) => cancel.mutateAsync({ id: job.id, runs: activeRuns(job) }),
    },
  ]
  return (
    <SelectionBar
      noun="job"
      nouns="jobs"
      counts={['{count} job', '{count} jobs']}
      rows={jobs}
      actions={actions}
      onClear={onClear}
    >
      <Button
        size="sm"
        variant="primary"
        icon={GitCompareArrows}
        disabledReason={jobs.length > maxCompared ? `At most ${maxCompared} jobs can be compared` : null}
        // The oldest is the baseline.
        onClick={() => router.push(paths.compare(jobs.map(({ id }) => id).reverse()))}
      >
        {jobs.length === 1 ? 'Compare agents' : 'Compare jobs'}
      </Button>
      {jobs.length === 1 && (
        <Button size="sm" icon={ChartLine} onClick={() => router.push(trendPath({ job: jobs[0]?.id }))}>
          Trend
        </Button>
      )}
    </SelectionBar>
  )
}
