'use client'
import { useMutation } from '@tanstack/react-query'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { type Blueprint, isBuilding } from '#lib/contract/blueprints.ts'
import { blueprintMutations } from './queries.ts'

interface DeleteBlueprintDialogProps {
  blueprint: Blueprint
  onDeleted: () => void
  onClose: () => void
}

/** Stays open with the service's reason if other records depend on the blueprint. Mount on open. */
export const DeleteBlueprintDialog = ({ blueprint, onDeleted, onClose }: DeleteBlueprintDialogProps) => {
  const remove = useMutation(blueprintMutations.delete())
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={
        <>
          Delete <VisibleText max={80}>{blueprint.name}</VisibleText>?
        </>
      }
      consequence={
        isBuilding(blueprint.status)
          ? 'Stops the build and deletes its image.'
          : 'Deletes this build and its image. Other builds with the same name are kept.'
      }
      needs="blueprints.delete"
      confirmLabel="Delete blueprint"
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() =>
        remove.mutate(blueprint.id, {
          onSuccess: () => {
            onClose()
            onDeleted()
            toast.ok('Blueprint deleted')
          },
        })
      }
    />
  )
}
