import { useMutation } from '@tanstack/react-query'
import { devboxMutations } from '#components/devboxes/queries.ts'
import { snapshotMutations } from '#components/snapshots/queries.ts'
import { toast } from '#components/ui/toast.tsx'

export const useRescue = () => {
  const keepAlive = useMutation(devboxMutations.keepAlive())
  const snapshot = useMutation(snapshotMutations.create())
  return {
    isBusy: keepAlive.isPending,
    keepAlive: (devboxId: string) =>
      keepAlive.mutate(devboxId, {
        onSuccess: () => toast.ok('Keep-alive timer reset'),
        onError: toast.failed("Couldn't extend the keep-alive time"),
      }),
    snapshot: (devboxId: string) =>
      snapshot.mutate(
        { devboxId, name: 'before-end', metadata: { reason: 'end' } },
        {
          onSuccess: () => toast.ok('Snapshot started'),
          onError: toast.failed("Couldn't take a snapshot"),
        },
      ),
  }
}
