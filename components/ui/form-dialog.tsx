'use client'
import { type FormEvent, useEffect, useId, useState } from 'react'
import type { Operation } from '#lib/protocol/roles.ts'
import { Button, type ButtonProps } from './button.tsx'
import { Dialog, type DialogProps } from './dialog.tsx'
import { InlineError } from './error-state.tsx'
import type { Problem } from './problem.ts'
import { useRefusal } from './refusals.ts'

export interface FormDialogProps extends Omit<DialogProps, 'footer'> {
  onSubmit: () => void
  submitLabel: string
  cancelLabel?: string
  tone?: ButtonProps['variant']
  /** The operation that it performs; undefined if it changes nothing in the service. */
  needs: Operation | undefined
  refusal?: string | null
  /** Error of the last submit, unless a field shows it. */
  error?: Problem
  /** Closing discards the input, so the dialog asks first. */
  losesInput?: boolean
}

export const FormDialog = ({
  onSubmit,
  submitLabel,
  cancelLabel = 'Cancel',
  tone = 'primary',
  needs,
  refusal: ownRefusal,
  error,
  losesInput = false,
  children,
  onOpenChange,
  ...dialog
}: FormDialogProps) => {
  const formId = useId()
  const { busy = false } = dialog
  const isSlow = useSlow(busy)
  const refusal = useRefusal(needs, ownRefusal)
  const [isTyped, setIsTyped] = useState(false)
  const [isAsking, setIsAsking] = useState(false)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // React passes it on to the form of a dialog that this one was opened from.
    event.stopPropagation()
    if (!busy && !refusal) onSubmit()
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
              Your changes aren't saved.
            </p>
          )}
          {isSlow && (
            <p role="status" className="min-w-0 flex-1 basis-52 text-sm text-muted">
              Still waiting for the service. Closing this dialog won't undo the request.
            </p>
          )}
          <Button
            key={isAsking ? 'discard' : 'cancel'}
            ref={isAsking ? takeFocus : undefined}
            onClick={() => onOpenChange(false)}
            disabledReason={busy && !isSlow ? 'the request is still running' : null}
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

/** After this long the dialog can be closed while the request runs. */
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
