'use client'
import { useMutation } from '@tanstack/react-query'
import dynamic from 'next/dynamic'
import { type ReactNode, useState } from 'react'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { Devbox } from '#lib/contract/devboxes.ts'
import { devboxMutations } from './queries.ts'

const ConfirmDialog = dynamic(async () => (await import('#components/ui/confirm-dialog.tsx')).ConfirmDialog)

export interface DevboxActions {
  /** These two open a confirmation dialog. */
  suspend: (devbox: Devbox) => void
  shutdown: (devbox: Devbox) => void
  resume: (devbox: Devbox) => void
  keepAlive: (devbox: Devbox) => void
  /** Id of the devbox with a request in progress. */
  busyId: string | undefined
  /** Render once per page. */
  dialogs: ReactNode
}

export const useDevboxActions = (): DevboxActions => {
  const [confirming, setConfirming] = useState<{ action: 'suspend' | 'shutdown'; devbox: Devbox }>()
  const suspend = useMutation(devboxMutations.suspend())
  const shutdown = useMutation(devboxMutations.shutdown())
  const resume = useMutation({
    ...devboxMutations.resume(),
    onError: (error, id, result, context) => {
      devboxMutations.resume().onError?.(error, id, result, context)
      toast.failed("Couldn't resume the devbox")(error)
    },
  })
  const keepAlive = useMutation(devboxMutations.keepAlive())

  const confirmFirst = (action: 'suspend' | 'shutdown') => (devbox: Devbox) => {
    suspend.reset()
    shutdown.reset()
    setConfirming({ action, devbox })
  }
  const confirm = () => {
    if (!confirming) return
    const mutation = confirming.action === 'suspend' ? suspend : shutdown
    mutation.mutate(confirming.devbox.id, { onSuccess: () => setConfirming(undefined) })
  }
  const pending = [suspend, shutdown, resume].find(({ isPending }) => isPending)
  return {
    suspend: confirmFirst('suspend'),
    shutdown: confirmFirst('shutdown'),
    resume: ({ id }) => resume.mutate(id),
    keepAlive: ({ id }) =>
      keepAlive.mutate(id, {
        onSuccess: () => toast.ok('Keep-alive timer restarted'),
        onError: toast.failed("Couldn't restart the keep-alive timer"),
      }),
    busyId: pending?.variables,
    dialogs: confirming && (
      <ConfirmDialog
        open
        onOpenChange={(open) => !open && setConfirming(undefined)}
        title={confirming.action === 'suspend' ? 'Suspend devbox?' : 'Shut down devbox?'}
        consequence={<Consequence {...confirming} />}
        cancelLabel="Cancel"
        needs={confirming.action === 'suspend' ? 'devboxes.suspend' : 'devboxes.shutdown'}
        confirmLabel={confirming.action === 'suspend' ? 'Suspend devbox' : 'Shut down devbox'}
        tone={confirming.action === 'suspend' ? 'primary' : 'danger'}
        busy={suspend.isPending || shutdown.isPending}
        error={suspend.error ?? shutdown.error}
        onConfirm={confirm}
      />
    ),
  }
}

const Consequence = ({ action, devbox }: { action: 'suspend' | 'shutdown'; devbox: Devbox }) => (
  <>
    <p className="font-medium">
      <VisibleText max={120}>{devbox.name || devbox.id}</VisibleText>
    </p>
    {action === 'suspend' ? (
      <p>Stops all processes and terminals. The disk is kept, and the devbox can be resumed.</p>
    ) : (
      <p>Stops all processes and terminals and deletes the disk. This can't be undone.</p>
    )}
  </>
)
