'use client'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Field } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { Input, submitOnCtrlEnter, Textarea } from '#components/ui/input.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { markLimits } from '#lib/protocol/marks.ts'
import { type LabeledItem, markMutations } from './queries.ts'

const suggestions = ['reward hacking', 'broken task', 'infrastructure']
const maxSuggestions = 8

interface LabelDialogProps {
  jobId: string
  title: string
  items: readonly LabeledItem[]
  /** Labels in use, suggested first. */
  used: readonly string[]
  onClose: () => void
}

export const LabelDialog = ({ jobId, title, items, used, onClose }: LabelDialogProps) => {
  const [label, setLabel] = useState('')
  const [note, setNote] = useState('')
  const add = useMutation(markMutations.label())
  const isEmpty = label.trim() === ''
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={title}
      description="Labels are for finding and counting attempts. They don't affect scores."
      needs="/api/judgment"
      submitLabel="Add label"
      busy={add.isPending}
      error={add.error}
      refusal={isEmpty ? 'enter a label' : null}
      onSubmit={() =>
        !isEmpty && add.mutate({ job_id: jobId, items, label: label.trim(), note: note.trim() }, { onSuccess: onClose })
      }
    >
      <div className="space-y-2">
        <Field label="Label">
          {(field) => (
            <Input
              {...field}
              value={label}
              maxLength={markLimits.labelLength}
              required
              onChange={({ target }) => setLabel(target.value)}
            />
          )}
        </Field>
        <p className="flex flex-wrap gap-1">
          {[...new Set([...used, ...suggestions])].slice(0, maxSuggestions).map((each) => (
            <Button key={each} size="sm" onClick={() => setLabel(each)}>
              <VisibleText max={40}>{each}</VisibleText>
            </Button>
          ))}
        </p>
      </div>
      <Field label="Note" optional hint="Shown with your name.">
        {(field) => (
          <Textarea
            {...field}
            spellCheck
            value={note}
            maxLength={markLimits.noteLength}
            onChange={({ target }) => setNote(target.value)}
            onKeyDown={submitOnCtrlEnter}
          />
        )}
      </Field>
    </FormDialog>
  )
}
