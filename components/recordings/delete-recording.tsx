'use client'
import { useMutation } from '@tanstack/react-query'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatBytes } from '#lib/browser/format.ts'
import { type Recording, titleOf } from '#lib/protocol/recordings.ts'
import { recordingMutations } from './queries.ts'

interface DeleteRecordingProps {
  recording: Recording
  onClose: () => void
  onDeleted?: () => void
}

export const DeleteRecording = ({ recording, onClose, onDeleted }: DeleteRecordingProps) => {
  const remove = useMutation(recordingMutations.delete())
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Delete recording?"
      consequence={
        <>
          <p className="font-medium">
            <VisibleText max={120}>{titleOf(recording)}</VisibleText>
          </p>
          <p>{formatBytes(recording.size_bytes)} of terminal output will be deleted permanently.</p>
        </>
      }
      confirmLabel="Delete recording"
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() =>
        remove.mutate(recording.id, {
          onSuccess: () => {
            onClose()
            onDeleted?.()
          },
        })
      }
    />
  )
}
