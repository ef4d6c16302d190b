'use client'
import { useMutation } from '@tanstack/react-query'
import { DescribeDialog } from '#components/list/describe-dialog.tsx'
import type { Devbox } from '#lib/contract/devboxes.ts'
import { devboxMutations, devboxQueries } from './queries.ts'

/** Mount on open, so that it starts from the current values. */
export const EditDevboxDialog = ({ devbox, onClose }: { devbox: Devbox; onClose: () => void }) => {
  const update = useMutation(devboxMutations.update())
  return (
    <DescribeDialog
      title="Edit devbox"
      submitLabel="Save changes"
      saved={devbox}
      metadataKeys={devboxQueries.metadataKeys()}
      saving={update}
      onSave={({ name, metadata }, base) =>
        update.mutate({ id: devbox.id, base, change: { name, metadata } }, { onSuccess: onClose })
      }
      onClose={onClose}
    />
  )
}
