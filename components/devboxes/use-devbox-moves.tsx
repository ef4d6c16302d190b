'use client'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { Devbox } from '#lib/contract/devboxes.ts'
import { devboxMutations } from './queries.ts'

export interface DevboxMoves {
  /** These two ask first. */
  suspend: (devbox: Devbox) => void
  shutdown: (devbox: Devbox) => void
  resume: (devbox: Devbox) => void
  keepAlive: (devbox: Devbox) => void
  /** The devbox on its way to another state by this page's doing. */
  busyId: string | undefined
  /** To be placed once, outside anything that clips. */
  dialogs: ReactNode
}

/** What can be done to a devbox from a list or from its page. */
export const useDevboxMoves = (): DevboxMoves => {
  const [asking, setAsking] = useState<{ move: 'suspend' | 'shutdown'; devbox: Devbox }>()
  const suspend = useMutation(devboxMutations.suspend())
  const shutdown = useMutation(devboxMutations.shutdown())
  const resume = useMutation({
    ...devboxMutations.resume(),
    onError: (error, id, result, context) => {
      devboxMutations.resume().onError?.(error, id, result, context)
      toast.failed('The devbox was not resumed')(error)
    },
  })
  const keepAlive = useMutation(devboxMutations.keepAlive())

  const ask = (move: 'suspend' | 'shutdown') => (devbox: Devbox) => {
    suspend.reset()
    shutdown.reset()
    setAsking({ move, devbox })
  }
  const confirm = () => {
    if (!asking) return
    const mutation = asking.move === 'suspend' ? suspend : shutdown
    mutation.mutate(asking.devbox.id, { onSuccess: () => setAsking(undefined) })
  }
  const pending = [suspend, shutdown, resume].find(({ isPending }) => isPending)
  return {
    suspend: ask('suspend'),
    shutdown: ask('shutdown'),
    resume: ({ id }) => resume.mutate(id),
    keepAlive: ({ id }) =>
      keepAlive.mutate(id, {
        onSuccess: () => toast.ok('Keep-alive time started anew'),
        onError: toast.failed('The keep-alive time was not extended'),
      }),
    busyId: pending?.variables,
    dialogs: asking && (
      <ConfirmDialog
        open
        onOpenChange={(open) => !open && setAsking(undefined)}
        title={asking.move === 'suspend' ? 'Suspend devbox?' : 'Shut down devbox?'}
        consequence={<Consequence {...asking} />}
        cancelLabel="Keep it as it is"
        confirmLabel={asking.move === 'suspend' ? 'Suspend devbox' : 'Shut down devbox'}
        tone={asking.move === 'suspend' ? 'primary' : 'danger'}
        busy={suspend.isPending || shutdown.isPending}
        error={suspend.error ?? shutdown.error}
        onConfirm={confirm}
      />
    ),
  }
}

const Consequence = ({ move, devbox }: { move: 'suspend' | 'shutdown'; devbox: Devbox }) => (
  <>
    <p className="font-medium">
      <VisibleText max={120}>{devbox.name || devbox.id}</VisibleText>
    </p>
    {move === 'suspend' ? (
      <p>Its processes and terminals end now. Its disk stays, and it can be resumed.</p>
    ) : (
      <p>Its processes and terminals end now and its disk is deleted. It cannot be started again.</p>
    )}
  </>
)
