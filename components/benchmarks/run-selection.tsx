'use client'
import { useMutation } from '@tanstack/react-query'
import { Ban } from 'lucide-react'
import { type RowAction, SelectionBar } from '#components/list/selection-bar.tsx'
import type { BenchmarkRun } from '#lib/contract/benchmark-runs.ts'
import { benchmarkRunMutations } from './run/queries.ts'

interface RunSelectionProps {
  runs: readonly BenchmarkRun[]
  onClear: () => void
}

/** What can be done to the runs that are selected. */
export const RunSelection = ({ runs, onClear }: RunSelectionProps) => {
  const cancel = useMutation(benchmarkRunMutations.cancel())
  const actions: RowAction<BenchmarkRun>[] = [
    {
      icon: Ban,
      verb: 'Cancel',
      done: 'Cancelled',
      failed: 'Not every run was cancelled',
      consequence: (count) =>
        `The scenarios that ${count} still run are cancelled and their devboxes shut down. Scenarios that have ended keep their scores. This cannot be undone.`,
      isFinal: true,
      isEligible: ({ state }) => state === 'running',
      act: ({ id }) => cancel.mutateAsync(id),
    },
  ]
  return (
    <SelectionBar
      noun="run"
      nouns="runs"
      counts={['{count} run', '{count} runs']}
      rows={runs}
      actions={actions}
      onClear={onClear}
    />
  )
}
