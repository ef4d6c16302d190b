'use client'
import { type ReactNode, useState } from 'react'
import { Field } from './field.tsx'
import { FormDialog, type FormDialogProps } from './form-dialog.tsx'
import { Input } from './input.tsx'

export interface ConfirmDialogProps
  extends Pick<
    FormDialogProps,
    'open' | 'onOpenChange' | 'title' | 'tone' | 'busy' | 'error' | 'cancelLabel' | 'needs'
  > {
  consequence: ReactNode
  confirmLabel: string
  onConfirm: () => void
  /** Text to type before the action can be confirmed. */
  typed?: string
}

export const ConfirmDialog = ({ consequence, confirmLabel, onConfirm, typed, ...dialog }: ConfirmDialogProps) => {
  const [text, setText] = useState('')
  const isConfirmed = typed === undefined || text === typed
  const change = (next: boolean) => {
    setText('')
    dialog.onOpenChange(next)
  }
  return (
    <FormDialog
      tone="danger"
      cancelLabel={confirmLabel.startsWith('Cancel') ? 'Go back' : 'Cancel'}
      {...dialog}
      onOpenChange={change}
      size="sm"
      onSubmit={() => isConfirmed && onConfirm()}
      submitLabel={confirmLabel}
      refusal={isConfirmed ? null : `type ${typed} first`}
    >
      <div className="text-lg">{consequence}</div>
      {typed !== undefined && (
        <Field
          label={
            <>
              To confirm, type <code className="font-mono font-medium break-all">{typed}</code>
            </>
          }
        >
          {(a11y) => <Input {...a11y} mono value={text} onChange={(event) => setText(event.target.value)} />}
        </Field>
      )}
    </FormDialog>
  )
}
