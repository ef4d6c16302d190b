'use client'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { type BenchmarkJob, maxConcurrentTrials } from '#lib/contract/benchmark-jobs.ts'
import { benchmarkJobMutations } from './queries.ts'

export const ConcurrencyDialog = ({ job, onClose }: { job: BenchmarkJob; onClose: () => void }) => {
  const [trials, setTrials] = useState(String(job.job_spec?.orchestrator_config?.n_concurrent_trials ?? ''))
  const change = useMutation(benchmarkJobMutations.setConcurrency())
  const isWrong = !/^[1-9]\d{0,3}$/.test(trials.trim()) || Number(trials) > maxConcurrentTrials
  const problem = isWrong ? `must be a whole number from 1 to ${maxConcurrentTrials}` : null
  // Other services don't have this endpoint.
  const isUnknown = ['not_found', 'not_implemented'].includes(problemOf(change.error).code ?? '')
  return (
    <FormDialog
      open
      onOpenChange={(isOpen) => isOpen || onClose()}
      title="Change concurrency"
      description="Running trials continue. The service also limits trials over all jobs."
      busy={change.isPending}
      submitLabel="Change"
      refusal={problem}
      error={isUnknown ? null : change.error}
      onSubmit={() => change.mutate({ id: job.id, n_concurrent_trials: Number(trials) }, { onSuccess: onClose })}
    >
      <TextField
        label="Trials at once"
        inputMode="numeric"
        error={isUnknown ? `This service can't change a running job: ${problemOf(change.error).message}` : problem}
        value={trials}
        onText={(text) => {
          setTrials(text)
          if (change.isError) change.reset()
        }}
      />
    </FormDialog>
  )
}
