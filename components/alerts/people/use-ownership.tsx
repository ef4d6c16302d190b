'use client'
import { useMutation } from '@tanstack/react-query'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { toast } from '#components/ui/toast.tsx'
import type { Acknowledged, Alert } from '#lib/protocol/alerts.ts'
import { alertMutations } from '../queries.ts'
import { alertsName } from './alerts-name.ts'
import { useNamed } from './own-name.ts'

const HandOverDialog = dynamic(async () => (await import('./dialogs.tsx')).HandOverDialog)
const CommentDialog = dynamic(async () => (await import('./dialogs.tsx')).CommentDialog)

const undoMs = 10_000
const idsOf = (alerts: readonly Alert[]) => alerts.map(({ id }) => id)

/** Acknowledges with undo, and reports who acknowledged first. */
export const useAcknowledge = () => {
  const named = useNamed()
  const undo = useUndo()
  const { mutate, isPending } = useMutation(alertMutations.acknowledge())
  const report = ({ acknowledged, taken }: Acknowledged) => {
    if (acknowledged.length > 0)
      toast.ok(`${alertsName(acknowledged)} acknowledged`, {
        action: { label: 'Undo', onClick: () => undo(acknowledged) },
        durationMs: undoMs,
      })
    const [first] = taken
    if (first)
      toast.attention(`${alertsName(taken)} already acknowledged`, {
        description: `by ${[...new Set(taken.map(({ acknowledged_by }) => acknowledged_by))].join(', ')}`,
      })
  }
  return {
    isPending,
    acknowledge: (alerts: readonly Alert[]) =>
      named(() => mutate(idsOf(alerts), { onSuccess: report, onError: toast.failed("Couldn't acknowledge") })),
  }
}

export const useUndo = () => {
  const { mutate } = useMutation(alertMutations.unacknowledge())
  return (alerts: readonly Alert[]) =>
    mutate(idsOf(alerts), {
      onSuccess: () => toast.ok('Acknowledgment undone'),
      onError: toast.failed("Couldn't undo the acknowledgment"),
    })
}

export const useTakeOver = () => {
  const named = useNamed()
  const { mutate } = useMutation(alertMutations.handOver())
  return (alerts: readonly Alert[]) =>
    named(() =>
      mutate(
        { ids: idsOf(alerts) },
        {
          onSuccess: () => toast.ok(`${alertsName(alerts)} taken over`),
          onError: toast.failed("Couldn't take over"),
        },
      ),
    )
}

/** Handoff and comment, with the dialog to render. */
export const useAlertDialogs = () => {
  const named = useNamed()
  const [opened, setOpened] = useState<{ of: 'hand over' | 'comment'; alerts: readonly Alert[] }>()
  const OpenDialog = opened?.of === 'comment' ? CommentDialog : HandOverDialog
  return {
    handOver: (alerts: readonly Alert[]) => named(() => setOpened({ of: 'hand over', alerts })),
    comment: (alerts: readonly Alert[]) => named(() => setOpened({ of: 'comment', alerts })),
    dialog: opened && <OpenDialog alerts={opened.alerts} onClose={() => setOpened(undefined)} />,
  }
}
