'use client'
import type { ComponentProps, ReactNode } from 'react'
import { type Control, type FieldValues, type Path, useController } from 'react-hook-form'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { Field, TextField } from '#components/ui/field.tsx'
import { Textarea, type TextareaProps } from '#components/ui/input.tsx'
import { KeyValueEditor, type KeyValueEditorProps } from '#components/ui/key-value-editor.tsx'

interface Bound<Values extends FieldValues> {
  // biome-ignore lint/suspicious/noExplicitAny: the form's output doesn't matter to a field
  control: Control<Values, any, any>
  name: Path<Values>
}

const useBound = <Values extends FieldValues>({ control, name }: Bound<Values>) => {
  const { field, fieldState } = useController({ control, name })
  return { ...field, error: fieldState.error?.message }
}

type TextProps<Values extends FieldValues> = Bound<Values> &
  Omit<ComponentProps<typeof TextField>, 'value' | 'onText' | 'error' | 'name' | 'ref'>

export const FormTextField = <Values extends FieldValues>({ control, name, ...props }: TextProps<Values>) => {
  const { value, onChange, ref, error } = useBound({ control, name })
  return <TextField {...props} ref={ref} value={value} onText={onChange} error={error} />
}

type AreaProps<Values extends FieldValues> = Bound<Values> &
  Pick<TextareaProps, 'rows' | 'mono' | 'placeholder'> & { label: string; hint?: string; optional?: boolean }

export const FormTextareaField = <Values extends FieldValues>({
  control,
  name,
  label,
  hint,
  optional,
  ...area
}: AreaProps<Values>) => {
  const { value, onChange, ref, error } = useBound({ control, name })
  return (
    <Field label={label} hint={hint} optional={optional} error={error}>
      {(a11y) => <Textarea {...a11y} {...area} ref={ref} value={value} onChange={onChange} />}
    </Field>
  )
}

interface SelectProps<Values extends FieldValues> extends Bound<Values> {
  label: string
  hint?: string
  options: readonly { value: string; label: string }[]
}

export const FormSelectField = <Values extends FieldValues>({ control, name, ...props }: SelectProps<Values>) => {
  const { value, onChange, error } = useBound({ control, name })
  return <SelectField {...props} value={value} onPick={onChange} error={error} />
}

type RowsProps<Values extends FieldValues> = Bound<Values> & Omit<KeyValueEditorProps, 'value' | 'onChange' | 'error'>

export const FormRowsField = <Values extends FieldValues>({ control, name, ...props }: RowsProps<Values>) => {
  const { value, onChange, error } = useBound({ control, name })
  return <KeyValueEditor {...props} value={value} onChange={onChange} error={error} />
}

export const FormCheckField = <Values extends FieldValues>({
  control,
  name,
  label,
}: Bound<Values> & { label: ReactNode }) => {
  const { value, onChange, ref } = useBound({ control, name })
  return (
    <label className="flex min-h-7 cursor-pointer items-center gap-2">
      <input
        ref={ref}
        type="checkbox"
        className="size-4 shrink-0 accent-(--accent-solid)"
        checked={value}
        onChange={({ target }) => onChange(target.checked)}
      />
      {label}
    </label>
  )
}
