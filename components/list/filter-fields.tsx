'use client'
import { useState } from 'react'
import { Input, type InputProps } from '#components/ui/input.tsx'
import { Select } from '#components/ui/select.tsx'

interface FilterInputProps extends Omit<InputProps, 'value' | 'onChange'> {
  label: string
  value: string | undefined
  /** Called on each keystroke; undefined if the field is empty. */
  onFilter: (text: string | undefined) => void
  /** Why a text is invalid; invalid text does not become a filter. */
  refusal?: (text: string) => string | null
}

export const FilterInput = ({
  label,
  value = '',
  onFilter,
  refusal,
  placeholder = label,
  className,
  ...rest
}: FilterInputProps) => {
  const [invalidText, setInvalidText] = useState<string | null>(null)
  const [knownValue, setKnownValue] = useState(value)
  if (value !== knownValue) {
    setKnownValue(value)
    setInvalidText(null)
  }
  const text = invalidText ?? value
  const problem = text === '' ? null : (refusal?.(text) ?? null)
  return (
    <span className={className}>
      <Input
        {...rest}
        aria-label={label}
        placeholder={placeholder}
        aria-invalid={problem ? true : undefined}
        title={problem ?? undefined}
        value={text}
        onChange={({ target }) => {
          const isInvalid = target.value !== '' && refusal?.(target.value)
          setInvalidText(isInvalid ? target.value : null)
          if (!isInvalid) onFilter(target.value || undefined)
        }}
      />
      {problem && (
        <span role="alert" className="mt-0.5 block text-xs text-danger">
          {problem}
        </span>
      )}
    </span>
  )
}

interface FilterSelectProps<Value extends string> {
  label: string
  any: string
  value: Value | undefined
  words: Record<Value, string>
  onFilter: (value: Value | undefined) => void
}

export const FilterSelect = <Value extends string>({
  label,
  any,
  value,
  words,
  onFilter,
}: FilterSelectProps<Value>) => (
  <Select
    aria-label={label}
    className="w-40 max-sm:flex-1 max-sm:basis-32"
    value={value ?? ''}
    onChange={({ target }) => onFilter((target.value || undefined) as Value | undefined)}
    options={[
      { value: '', label: any },
      ...Object.entries<string>(words).map(([each, word]) => ({ value: each, label: word })),
    ]}
  />
)
