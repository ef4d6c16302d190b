'use client'
import { type ReactNode, useState } from 'react'
import { Field } from './field.tsx'
import { FormDialog } from './form-dialog.tsx'
import { Input } from './input.tsx'
import type { Problem } from './problem.ts'

export interface ConfirmDialogProps {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: ReactNode
  /** What will happen, in numbers where there are any. */
  consequence: ReactNode
  /** A verb with its object: "Shut down devbox". */
  confirmLabel: string
  tone?: 'danger' | 'primary'
  busy?: boolean
  error?: Problem | null
  onConfirm: () => void
  /** Text that must be typed before the action can be confirmed. */
  typed?: string
}

export const ConfirmDialog = ({
  open,
  onOpenChange,
  title,
  consequence,
  confirmLabel,
  tone = 'danger',
  busy,
  error,
  onConfirm,
  typed,
}: ConfirmDialogProps) => {
  const [text, setText] = useState('')
  const isConfirmed = typed === undefined || text === typed
  const change = (next: boolean) => {
    setText('')
    onOpenChange(next)
  }
  return (
    <FormDialog
      open={open}
      onOpenChange={change}
      title={title}
      size="sm"
      busy={busy}
      onSubmit={() => isConfirmed && onConfirm()}
      submitLabel={confirmLabel}
      cancelLabel="Keep it as it is"
      tone={tone}
      refusal={isConfirmed ? null : `type ${typed} first`}
      error={error}
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
