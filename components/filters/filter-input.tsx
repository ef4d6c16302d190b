'use client'
import { useState } from 'react'
import { Input, type InputProps } from '#components/ui/input.tsx'

export interface FilterInputProps extends Omit<InputProps, 'value' | 'onChange'> {
  /** Its name for assistive technology and, as a placeholder, for all. */
  label: string
  /** What the list is filtered by. */
  value: string | undefined
  /** Called with each keystroke; an empty field is no filter. */
  onFilter: (text: string | undefined) => void
  /** What is wrong with a text; such a text does not become a filter. */
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
  const [refused, setRefused] = useState<string | null>(null)
  const [known, setKnown] = useState(value)
  // The filter changed by other means than this field: a link, the back button.
  if (value !== known) {
    setKnown(value)
    setRefused(null)
  }
  const text = refused ?? value
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
          const isRefused = target.value !== '' && refusal?.(target.value)
          setRefused(isRefused ? target.value : null)
          if (!isRefused) onFilter(target.value || undefined)
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
