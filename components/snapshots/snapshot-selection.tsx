'use client'
import { useMutation } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { type RowAction, SelectionBar } from '#components/list/selection-bar.tsx'
import type { Snapshot } from '#lib/contract/snapshots.ts'
import { snapshotMutations } from './queries.ts'

interface SnapshotSelectionProps {
  snapshots: readonly Snapshot[]
  onClear: () => void
  onDeleted: (id: string) => void
}

/** What can be done to the snapshots that are selected. */
export const SnapshotSelection = ({ snapshots, onClear, onDeleted }: SnapshotSelectionProps) => {
  const remove = useMutation(snapshotMutations.delete())
  const actions: RowAction<Snapshot>[] = [
    {
      icon: Trash2,
      verb: 'Delete',
      done: 'Deleted',
      failed: 'Not every snapshot was deleted',
      consequence: (count) =>
        `The copies of the disks in ${count} are deleted. Devboxes that were created from them keep theirs.`,
      isFinal: true,
      // Of one that is still being taken nobody knows the size.
      isEligible: ({ size_bytes }) => size_bytes != null,
      act: async ({ id }) => {
        await remove.mutateAsync(id)
        onDeleted(id)
      },
    },
  ]
  return (
    <SelectionBar
      noun="snapshot"
      nouns="snapshots"
      counts={['{count} snapshot', '{count} snapshots']}
      rows={snapshots}
      actions={actions}
      onClear={onClear}
    />
  )
}
