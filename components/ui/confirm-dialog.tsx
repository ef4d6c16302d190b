'use client'
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { InlineError } from './error-state.tsx'
import { Field } from './field.tsx'
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
  const formId = useId()
  const [text, setText] = useState('')
  const isConfirmed = typed === undefined || text === typed
  const change = (next: boolean) => {
    setText('')
    onOpenChange(next)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isConfirmed && !busy) onConfirm()
  }
  return (
    <Dialog
      open={open}
      onOpenChange={change}
      title={title}
      size="sm"
      busy={busy}
      footer={
        <>
          <Button onClick={() => change(false)} disabledReason={busy ? 'work is under way' : null}>
            Keep it as it is
          </Button>
          <Button
            type="submit"
            form={formId}
            variant={tone}
            busy={busy}
            disabledReason={isConfirmed ? null : `type ${typed} first`}
          >
            {confirmLabel}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={submit} className="space-y-4">
        <div className="text-lg">{consequence}</div>
        {typed !== undefined && (
          <Field
            label={
              <>
                To confirm, type <code className="font-mono font-medium break-all">{typed}</code>
              </>
            }
          >
            {(a11y) => (
              <Input
                {...a11y}
                mono
                value={text}
                autoComplete="off"
                spellCheck={false}
                onChange={(event) => setText(event.target.value)}
              />
            )}
          </Field>
        )}
        {error != null && <InlineError error={error} />}
      </form>
    </Dialog>
  )
}
