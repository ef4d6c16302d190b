import { Field, type FieldProps } from '../field.tsx'
import { Select, type SelectProps } from '../select.tsx'

interface SelectFieldProps<Value extends string>
  extends Omit<SelectProps, 'value' | 'options' | 'onChange' | 'className'>,
    Pick<FieldProps, 'label' | 'hint' | 'error' | 'className'> {
  value: Value
  options: readonly { value: Value; label: string }[]
  onPick: (value: Value) => void
}

export const SelectField = <Value extends string>({
  label,
  hint,
  error,
  className,
  onPick,
  ...select
}: SelectFieldProps<Value>) => (
  <Field label={label} hint={hint} error={error} className={className}>
    {(control) => <Select {...control} {...select} onChange={({ target }) => onPick(target.value as Value)} />}
  </Field>
)
