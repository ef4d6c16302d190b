'use client'
import { useMutation } from '@tanstack/react-query'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { toast } from '#components/ui/toast.tsx'
import type { Secret } from '#lib/contract/secrets.ts'
import { secretMutations } from './queries.ts'
import { usersText, useSecretUsage } from './secret-usage.tsx'

interface DeleteSecretDialogProps {
  secret: Pick<Secret, 'name'>
  onDeleted: () => void
  onClose: () => void
}

/** Mount on open. */
export const DeleteSecretDialog = ({ secret: { name }, onDeleted, onClose }: DeleteSecretDialogProps) => {
  const remove = useMutation(secretMutations.delete())
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={
        <>
          Delete <span className="font-mono break-all">{name}</span>?
        </>
      }
      consequence={
        <div className="space-y-2">
          <p>Its value can't be recovered.</p>
          <Dependents name={name} />
        </div>
      }
      needs="secrets.delete"
      confirmLabel="Delete secret"
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() =>
        remove.mutate(name, {
          onSuccess: () => {
            onClose()
            onDeleted()
            toast.ok('Secret deleted')
          },
        })
      }
    />
  )
}

const Dependents = ({ name }: { name: string }) => {
  const { query, isUnknown } = useSecretUsage(name)
  if (isUnknown) return <p>Devboxes that use it will start without the variable.</p>
  if (query.error) return <p>Couldn't check what uses it. Devboxes that use it will start without the variable.</p>
  if (!query.data) return <p className="text-muted">Checking what uses it</p>
  const used = usersText(query.data)
  if (used === '') return <p>Nothing uses it.</p>
  return (
    <p>{`Used by ${used}. Devboxes keep the value until they restart; later starts, builds and requests go without it.`}</p>
  )
}
