'use client'
import { useMutation } from '@tanstack/react-query'
import { DescribeDialog } from '#components/list/describe-dialog.tsx'
import { maxCommitMessageLength, type Snapshot } from '#lib/contract/snapshots.ts'
import { snapshotMutations, snapshotQueries } from './queries.ts'

type Subject = { devboxId: string; snapshot?: undefined } | { snapshot: Snapshot; devboxId?: undefined }
type SnapshotDialogProps = Subject & {
  onClose: () => void
  onCreated?: (snapshot: Snapshot) => void
}

/** Takes a snapshot or edits one. Mount on open. */
export const SnapshotDialog = ({ devboxId, snapshot, onClose, onCreated }: SnapshotDialogProps) => {
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
        needs="snapshots.update"
        submitLabel="Save changes"
        saved={snapshot}
        saving={update}
        onSave={(mine, base) => update.mutate({ id: snapshot.id, base, ...mine }, { onSuccess: onClose })}
      />
    )
  const created = (snapshot: Snapshot) => {
    onCreated?.(snapshot)
    onClose()
  }
  return (
    <DescribeDialog
      {...form}
      title="Take snapshot"
      description="Copies the disk. The devbox keeps running; files written during the copy may be incomplete."
      needs="snapshots.createAsync"
      submitLabel="Take snapshot"
      saving={create}
      onSave={(mine) => create.mutate({ devboxId, ...mine }, { onSuccess: created })}
    />
  )
}
