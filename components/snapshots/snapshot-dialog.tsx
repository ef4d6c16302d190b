'use client'
import { useMutation } from '@tanstack/react-query'
import { DescribeDialog } from '#components/list/describe-dialog.tsx'
import { maxCommitMessageLength, type Snapshot } from '#lib/contract/snapshots.ts'
import { snapshotMutations, snapshotQueries } from './queries.ts'

type Subject = { devboxId: string; snapshot?: undefined } | { snapshot: Snapshot; devboxId?: undefined }
type SnapshotDialogProps = Subject & {
  onClose: () => void
  /** Of one that is being taken now. */
  onTaken?: (snapshot: Snapshot) => void
}

/** Takes a snapshot of a devbox, or changes what is written about one. Mount it when it opens. */
export const SnapshotDialog = ({ devboxId, snapshot, onClose, onTaken }: SnapshotDialogProps) => {
  const create = useMutation(snapshotMutations.create())
  const update = useMutation(snapshotMutations.update())
  const form = {
    maxMessageLength: maxCommitMessageLength,
    metadataKeys: snapshotQueries.metadataKeys(),
    onClose,
  }
  if (snapshot)
    return (
      <DescribeDialog
        {...form}
        title="Edit snapshot"
        submitLabel="Save changes"
        saved={snapshot}
        saving={update}
        onSave={(mine, base) => update.mutate({ id: snapshot.id, base, ...mine }, { onSuccess: onClose })}
      />
    )
  const taken = (snapshot: Snapshot) => {
    onTaken?.(snapshot)
    onClose()
  }
  return (
    <DescribeDialog
      {...form}
      title="Take snapshot"
      description="A copy of the disk as it is now. The devbox goes on running; what it writes meanwhile may be half in the copy."
      submitLabel="Take snapshot"
      saving={create}
      onSave={(mine) => create.mutate({ devboxId, ...mine }, { onSuccess: taken })}
    />
  )
}
