'use client'
import { type ReactNode, useEffect, useState } from 'react'
import { useController, useFormContext } from 'react-hook-form'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { Field, TextField } from '#components/ui/field.tsx'
import { Textarea } from '#components/ui/input.tsx'
import { KeyValueEditor } from '#components/ui/key-value-editor.tsx'
import { type DevboxFormValues, emptyValues } from './form-schema.ts'

/** Names of the fields with values of a type. */
type FieldsOf<Value> = {
  [Name in keyof DevboxFormValues]: DevboxFormValues[Name] extends Value ? Name : never
}[keyof DevboxFormValues]

type TextName = FieldsOf<string>
type RowsName = 'metadata' | 'environment' | 'secrets'

const useField = <Name extends keyof DevboxFormValues>(name: Name) => {
  const { field, fieldState } = useController<DevboxFormValues, Name>({ name })
  const { onChange, ref } = field
  return { value: field.value as DevboxFormValues[Name], onChange, ref, error: fieldState.error?.message }
}

type FormTextProps = Omit<Parameters<typeof TextField>[0], 'value' | 'onText' | 'error'> & { name: TextName }

export const FormText = ({ name, ...props }: FormTextProps) => {
  const { value, onChange, ref, error } = useField(name)
  return <TextField {...props} ref={ref} value={value} onText={onChange} error={error} />
}

interface FormTextAreaProps {
  name: TextName
  label: string
  hint: string
  placeholder: string
}

export const FormTextArea = ({ name, label, hint, placeholder }: FormTextAreaProps) => {
  const { value, onChange, error } = useField(name)
  return (
    <Field label={label} optional hint={hint} error={error}>
      {(control) => <Textarea {...control} mono value={value} placeholder={placeholder} onChange={onChange} />}
    </Field>
  )
}

interface FormSelectProps<Name extends TextName> {
  name: Name
  label: string
  hint?: string | undefined
  options: readonly { value: DevboxFormValues[Name]; label: string }[]
}

export const FormSelect = <Name extends TextName>({ name, ...props }: FormSelectProps<Name>) => {
  const { value, onChange, error } = useField(name)
  return <SelectField {...props} value={value} onPick={onChange} error={error} />
}

type FormRowsProps = Omit<Parameters<typeof KeyValueEditor>[0], 'value' | 'onChange' | 'error'> & { name: RowsName }

export const FormRows = ({ name, ...props }: FormRowsProps) => {
  const { value, onChange, error } = useField(name)
  return <KeyValueEditor {...props} value={value} onChange={onChange} error={error} />
}

interface FieldGroupProps {
  title: string
  fields: readonly (keyof DevboxFormValues)[]
  children: ReactNode
}

/** Collapsed while its fields have their defaults; opens when one of them has an error. */
export const FieldGroup = ({ title, fields, children }: FieldGroupProps) => {
  const { formState, getValues } = useFormContext<DevboxFormValues>()
  const [isOpen, setIsOpen] = useState(() => fields.some((name) => isFilled(name, getValues(name))))
  const hasError = fields.some((name) => formState.errors[name])
  useEffect(() => {
    if (hasError) setIsOpen(true)
  }, [hasError])
  return (
    <details
      open={isOpen}
      onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
      className="rounded-md border border-line"
    >
      <summary className="cursor-pointer px-3 py-2 font-medium">{title}</summary>
      <div className="space-y-5 px-3 pt-1 pb-4">{children}</div>
    </details>
  )
}

const isFilled = (name: keyof DevboxFormValues, value: unknown) =>
  JSON.stringify(value) !== JSON.stringify(emptyValues[name])
