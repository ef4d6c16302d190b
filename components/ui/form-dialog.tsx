'use client'
import { type FormEvent, useId } from 'react'
import { Button, type ButtonProps } from './button.tsx'
import { Dialog, type DialogProps } from './dialog.tsx'
import { InlineError } from './error-state.tsx'
import type { Problem } from './problem.ts'

export interface FormDialogProps extends Omit<DialogProps, 'footer'> {
  onSubmit: () => void
  /** A verb with its object: "Create axon". */
  submitLabel: string
  cancelLabel?: string
  tone?: ButtonProps['variant']
  /** Why it cannot be submitted as it is. */
  refusal?: string | null
  /** What the last attempt failed with, where no field shows it. */
  error?: Problem
}

/** A form in a dialog, with the buttons that submit and leave it. */
export const FormDialog = ({
  onSubmit,
  submitLabel,
  cancelLabel = 'Cancel',
  tone = 'primary',
  refusal,
  error,
  children,
  ...dialog
}: FormDialogProps) => {
  const formId = useId()
  const { busy, onOpenChange } = dialog
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!busy) onSubmit()
  }
  return (
    <Dialog
      {...dialog}
      footer={
        <>
          <Button onClick={() => onOpenChange(false)} disabledReason={busy ? 'work is under way' : null}>
            {cancelLabel}
          </Button>
          <Button type="submit" form={formId} variant={tone} busy={busy} disabledReason={refusal}>
            {submitLabel}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={submit} className="space-y-5">
        {children}
        {error != null && <InlineError error={error} />}
      </form>
    </Dialog>
  )
}
