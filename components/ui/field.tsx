'use client'
import { CircleAlert } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import { classes } from './classes.ts'
import { Input, type InputProps } from './input.tsx'

export interface FieldControl {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': true | undefined
}

export interface FieldProps {
  label: ReactNode
  hint?: ReactNode
  error?: ReactNode
  optional?: boolean
  className?: string
  children: (control: FieldControl) => ReactNode
}

export const Field = ({ label, hint, error, optional, className, children }: FieldProps) => {
  const id = useId()
  const described = [error ? `${id}-error` : '', hint ? `${id}-hint` : ''].filter(Boolean).join(' ')
  return (
    <div className={classes('flex flex-col gap-1', className)}>
      <label htmlFor={id} className="font-medium">
        {label}
        {optional && <span className="font-normal text-muted"> (optional)</span>}
      </label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined })}
      {error && <FieldError id={`${id}-error`}>{error}</FieldError>}
      {hint && (
        <p id={`${id}-hint`} className="text-sm text-muted">
          {hint}
        </p>
      )}
    </div>
  )
}

export const FieldError = ({ id, children }: { id?: string; children: ReactNode }) => (
  <p id={id} role="alert" className="flex gap-1 text-sm text-danger">
    <CircleAlert aria-hidden className="mt-0.5 size-3.5 shrink-0" />
    <span className="min-w-0 break-words">{children}</span>
  </p>
)

interface TextFieldProps
  extends Omit<InputProps, 'onChange'>,
    Pick<FieldProps, 'label' | 'hint' | 'error' | 'optional'> {
  onText: (text: string) => void
}

export const TextField = ({ label, hint, error, optional, onText, ...input }: TextFieldProps) => (
  <Field label={label} hint={hint} error={error} optional={optional}>
    {(control) => <Input {...control} {...input} onChange={({ target }) => onText(target.value)} />}
  </Field>
)
