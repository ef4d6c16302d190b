'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { toast } from '#components/ui/toast.tsx'
import type { Alert } from '#lib/protocol/alerts.ts'
import { alertMutations, alertQueries } from '../queries.ts'
import { alertsName } from './alerts-name.ts'
import { useOwnLabel } from './own-name.ts'

interface PeopleDialogProps {
  alerts: readonly Alert[]
  onClose: () => void
}

export const HandOverDialog = ({ alerts, onClose }: PeopleDialogProps) => {
  const listId = useId()
  const own = useOwnLabel()
  const { data: people = [] } = useQuery(alertQueries.people())
  const [to, setTo] = useState('')
  const handOver = useMutation(alertMutations.handOver())
  const submit = () =>
    handOver.mutate(
      { ids: alerts.map(({ id }) => id), to },
      {
        onSuccess: ({ alerts: changed }) => {
          const [first] = changed
          if (first) toast.ok(`${alertsName(changed)} handed over to ${first.acknowledged_by}`)
          else toast.info('Nothing handed over: already theirs, or closed')
          onClose()
        },
      },
    )
  return (
    <FormDialog
      open
      size="sm"
      title={`Hand over ${alertsName(alerts)}`}
      description="Acknowledges on their behalf and notifies them in their browser."
      busy={handOver.isPending}
      onOpenChange={onClose}
      onSubmit={submit}
      needs="/api/alerts"
      submitLabel="Hand over"
      refusal={to.trim() === '' ? 'enter a name first' : null}
      error={handOver.error}
    >
      <TextField label="To" list={listId} autoComplete="off" maxLength={256} value={to} onText={setTo} />
      <datalist id={listId}>
        {people
          .filter((name) => name !== own)
          .map((name) => (
            <option key={name} value={name} />
          ))}
      </datalist>
    </FormDialog>
  )
}

export const CommentDialog = ({ alerts, onClose }: PeopleDialogProps) => {
  const [text, setText] = useState('')
  const comment = useMutation(alertMutations.comment())
  return (
    <FormDialog
      open
      size="sm"
      losesInput
      title={`Comment on ${alertsName(alerts)}`}
      busy={comment.isPending}
      onOpenChange={onClose}
      onSubmit={() => comment.mutate({ ids: alerts.map(({ id }) => id), text }, { onSuccess: onClose })}
      needs="/api/alerts"
      submitLabel="Add comment"
      refusal={text.trim() === '' ? 'enter a comment first' : null}
      error={comment.error}
    >
      <TextField label="Comment" maxLength={1000} value={text} onText={setText} />
    </FormDialog>
  )
}
