'use client'
import { useMutation } from '@tanstack/react-query'
import { Camera, Clock, Pause, Play, Power } from 'lucide-react'
import { type RowAction, SelectionBar } from '#components/list/selection-bar.tsx'
import { snapshotMutations } from '#components/snapshots/queries.ts'
import { type Devbox, devboxRefusal, resumeRefusal, shutdownRefusal } from '#lib/contract/devboxes.ts'
import { devboxMutations } from './queries.ts'

interface DevboxSelectionProps {
  devboxes: readonly Devbox[]
  onClear: () => void
}

/** What can be done to the devboxes that are selected. */
export const DevboxSelection = ({ devboxes, onClear }: DevboxSelectionProps) => {
  const suspend = useMutation(devboxMutations.suspend())
  const resume = useMutation(devboxMutations.resume())
  const shutdown = useMutation(devboxMutations.shutdown())
  const keepAlive = useMutation(devboxMutations.keepAlive())
  const snapshot = useMutation(snapshotMutations.create())
  const actions: RowAction<Devbox>[] = [
    {
      icon: Play,
      verb: 'Resume',
      done: 'Resuming',
      failed: 'Not every devbox was resumed',
      isEligible: (devbox) => resumeRefusal(devbox) === null,
      act: ({ id }) => resume.mutateAsync(id),
    },
    {
      icon: Clock,
      verb: 'Keep alive',
      done: 'Keep-alive time started anew',
      failed: 'Not every keep-alive time was extended',
      isEligible: ({ status }) => devboxRefusal('keep_alive', status) === null,
      act: ({ id }) => keepAlive.mutateAsync(id),
    },
    {
      icon: Camera,
      verb: 'Snapshot',
      done: 'Snapshots begun',
      failed: 'Not every snapshot was begun',
      isEligible: ({ status }) => devboxRefusal('snapshot', status) === null,
      act: ({ id }) => snapshot.mutateAsync({ devboxId: id }),
    },
    {
      icon: Pause,
      verb: 'Suspend',
      done: 'Suspending',
      failed: 'Not every devbox was suspended',
      consequence: (count) =>
        `The processes and terminals of ${count} end now. Disks stay, and what is suspended can be resumed.`,
      isEligible: ({ status }) => devboxRefusal('suspend', status) === null,
      act: ({ id }) => suspend.mutateAsync(id),
    },
    {
      icon: Power,
      verb: 'Shut down',
      done: 'Shutting down',
      failed: 'Not every devbox was shut down',
      consequence: (count) =>
        `Processes, terminals and disks of ${count} are lost now. What is shut down cannot be started again.`,
      isFinal: true,
      isEligible: (devbox) => shutdownRefusal(devbox) === null,
      act: ({ id }) => shutdown.mutateAsync(id),
    },
  ]
  return (
    <SelectionBar
      noun="devbox"
      nouns="devboxes"
      counts={['{count} devbox', '{count} devboxes']}
      rows={devboxes}
      actions={actions}
      onClear={onClear}
    />
  )
}
