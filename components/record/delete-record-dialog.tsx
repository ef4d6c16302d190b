'use client'
import { type MutationOptions, useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { Operation } from '#lib/protocol/roles.ts'

interface DeleteRecordDialogProps {
  noun: string
  needs: Operation
  record: { id: string; name?: string | null }
  consequence: ReactNode
  // biome-ignore lint/suspicious/noExplicitAny: `dynamic` loses type parameters, and the result isn't used
  mutation: MutationOptions<any, Error, string>
  onDeleted: () => void
  onClose: () => void
}

/** Stays open with the service's reason if it refuses. Mount on open. */
export const DeleteRecordDialog = ({
  noun,
  needs,
  record: { id, name },
  consequence,
  mutation,
  onDeleted,
  onClose,
}: DeleteRecordDialogProps) => {
  const remove = useMutation(mutation)
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={
        <>
          Delete <VisibleText max={80}>{name || id}</VisibleText>?
        </>
      }
      consequence={consequence}
      needs={needs}
      confirmLabel={`Delete ${noun}`}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() =>
        remove.mutate(id, {
          onSuccess: () => {
            onClose()
            onDeleted()
            toast.ok(`${noun.charAt(0).toUpperCase()}${noun.slice(1)} deleted`)
          },
        })
      }
    />
  )
}
