'use client'
import { type FormEvent, useEffect, useId, useState } from 'react'
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
  /** What is typed is gone with the dialog, so Escape and clicks outside ask before they close it. */
  losesInput?: boolean
}

/** A form in a dialog, with the buttons that submit and leave it. */
export const FormDialog = ({
  onSubmit,
  submitLabel,
  cancelLabel = 'Cancel',
  tone = 'primary',
  refusal,
  error,
  losesInput = false,
  children,
  onOpenChange,
  ...dialog
}: FormDialogProps) => {
  const formId = useId()
  const { busy = false } = dialog
  const isSlow = useSlow(busy)
  const [isTyped, setIsTyped] = useState(false)
  const [isAsking, setIsAsking] = useState(false)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!busy) onSubmit()
  }
  return (
    <Dialog
      {...dialog}
      onOpenChange={(next) => (losesInput && isTyped && !next ? setIsAsking(true) : onOpenChange(next))}
      busy={busy && !isSlow}
      footer={
        <>
          {isAsking && (
            <p role="status" className="min-w-0 flex-1 basis-52 text-sm text-muted">
              What was typed here is not saved.
            </p>
          )}
          {isSlow && (
            <p role="status" className="min-w-0 flex-1 basis-52 text-sm text-muted">
              The service has not answered yet. To stop waiting does not take back what was sent.
            </p>
          )}
          <Button
            key={isAsking ? 'discard' : 'cancel'}
            ref={isAsking ? takeFocus : undefined}
            onClick={() => onOpenChange(false)}
            disabledReason={busy && !isSlow ? 'work is under way' : null}
          >
            {isSlow ? 'Stop waiting' : isAsking ? 'Discard changes' : cancelLabel}
          </Button>
          <Button type="submit" form={formId} variant={tone} busy={busy} disabledReason={refusal}>
            {submitLabel}
          </Button>
        </>
      }
    >
      <form
        id={formId}
        onSubmit={submit}
        onInput={() => {
          setIsTyped(true)
          setIsAsking(false)
        }}
        className="space-y-5"
      >
        {children}
        {error != null && <InlineError error={error} />}
      </form>
    </Dialog>
  )
}

const takeFocus = (button: HTMLButtonElement | null) => button?.focus()

/** Most answers come sooner; a person who waits longer may leave. */
const slowMs = 3_000

const useSlow = (busy: boolean): boolean => {
  const [isSlow, setIsSlow] = useState(false)
  useEffect(() => {
    if (!busy) return
    const timer = setTimeout(() => setIsSlow(true), slowMs)
    return () => {
      clearTimeout(timer)
      setIsSlow(false)
    }
  }, [busy])
  return isSlow
}
