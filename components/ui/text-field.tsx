import { Field, type FieldProps } from './field.tsx'
import { Input, type InputProps } from './input.tsx'

interface TextFieldProps
  extends Omit<InputProps, 'onChange'>,
    Pick<FieldProps, 'label' | 'hint' | 'error' | 'optional'> {
  onText: (text: string) => void
}

/** One line of text with its label. */
export const TextField = ({ label, hint, error, optional, onText, ...input }: TextFieldProps) => (
  <Field label={label} hint={hint} error={error} optional={optional}>
    {(control) => <Input {...control} {...input} onChange={({ target }) => onText(target.value)} />}
  </Field>
)
