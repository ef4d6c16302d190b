'use client'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Chips } from '#components/ui/choice/chips.tsx'
import { Field } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { submitOnCtrlEnter, Textarea } from '#components/ui/input.tsx'
import { type ExclusionReason, exclusionReasons, markLimits, reasonLabels } from '#lib/protocol/marks.ts'
import { type ExcludedItem, markMutations } from './queries.ts'

export interface ExclusionScope {
  label: string
  items: readonly ExcludedItem[]
}

interface ExcludeDialogProps {
  jobId: string
  title: string
  /** What can be excluded, the default first. */
  scopes: readonly ExclusionScope[]
  reason?: ExclusionReason
  onClose: () => void
}

export const ExcludeDialog = ({ jobId, title, scopes, reason: initial, onClose }: ExcludeDialogProps) => {
  const [scope, setScope] = useState(0)
  const [reason, setReason] = useState<ExclusionReason>(initial ?? 'broken_task')
  const [note, setNote] = useState('')
  const exclude = useMutation(markMutations.exclude())
  const needsNote = reason === 'other' && note.trim() === ''
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={title}
      description="Excluded attempts don't count toward any figure but stay visible. You can include them again at any time."
      needs="/api/judgment"
      submitLabel="Exclude"
      busy={exclude.isPending}
      error={exclude.error}
      refusal={needsNote ? 'enter a note for the reason Other' : null}
      onSubmit={() =>
        !needsNote &&
        exclude.mutate(
          { job_id: jobId, items: scopes[scope]?.items ?? [], reason, note: note.trim() },
          { onSuccess: onClose },
        )
      }
    >
      {scopes.length > 1 && (
        <Chips
          legend="Exclude"
          legendClassName="mb-1 font-medium"
          value={scope}
          options={scopes.map(({ label }, value) => ({ value, label }))}
          onChange={setScope}
        />
      )}
      <Chips
        legend="Reason"
        legendClassName="mb-1 font-medium"
        value={reason}
        options={exclusionReasons.map((value) => ({ value, label: reasonLabels[value] }))}
        onChange={setReason}
      />
      <Field label="Note" optional={reason !== 'other'} hint="Shown with your name in reports.">
        {(field) => (
          <Textarea
            {...field}
            spellCheck
            value={note}
            maxLength={markLimits.noteLength}
            required={reason === 'other'}
            onChange={({ target }) => setNote(target.value)}
            onKeyDown={submitOnCtrlEnter}
          />
        )}
      </Field>
    </FormDialog>
  )
}
