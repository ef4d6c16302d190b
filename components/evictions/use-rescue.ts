import { useMutation } from '@tanstack/react-query'
import { problemOf } from '#components/ui/problem.ts'
import { toast } from '#components/ui/toast.tsx'
import { devboxMutations } from '#lib/console/queries/devboxes.ts'
import { snapshotMutations } from '#lib/console/queries/snapshots.ts'

/** What saves the disk of a devbox that is about to end. */
export const useRescue = () => {
  const alive = useMutation(devboxMutations.keepAlive())
  const taking = useMutation(snapshotMutations.create())
  return {
    isBusy: alive.isPending,
    keepAlive: (devboxId: string) =>
      alive.mutate(devboxId, {
        onSuccess: () => toast.ok('Keep-alive time started anew'),
        onError: (error) =>
          toast.danger('The keep-alive time was not extended', { description: problemOf(error).message }),
      }),
    snapshot: (devboxId: string) =>
      taking.mutate(
        { devboxId, name: 'before-end', metadata: { reason: 'end' } },
        {
          onSuccess: () => toast.ok('Snapshot begun'),
          onError: (error) => toast.danger('No snapshot was taken', { description: problemOf(error).message }),
        },
      ),
  }
}
