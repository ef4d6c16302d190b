import { useMutation } from '@tanstack/react-query'
import { devboxMutations } from '#components/devboxes/queries.ts'
import { snapshotMutations } from '#components/snapshots/queries.ts'
import { toast } from '#components/ui/toast.tsx'

/** What saves the disk of a devbox that is about to end. */
export const useRescue = () => {
  const alive = useMutation(devboxMutations.keepAlive())
  const taking = useMutation(snapshotMutations.create())
  return {
    isBusy: alive.isPending,
    keepAlive: (devboxId: string) =>
      alive.mutate(devboxId, {
        onSuccess: () => toast.ok('Keep-alive time started anew'),
        onError: toast.failed('The keep-alive time was not extended'),
      }),
    snapshot: (devboxId: string) =>
      taking.mutate(
        { devboxId, name: 'before-end', metadata: { reason: 'end' } },
        {
          onSuccess: () => toast.ok('Snapshot begun'),
          onError: toast.failed('No snapshot was taken'),
        },
      ),
  }
}
