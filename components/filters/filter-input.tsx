'use client'
import { useEffect, useRef, useState } from 'react'
import { Input, type InputProps } from '#components/ui/input.tsx'

const typingPauseMs = 250

export interface FilterInputProps extends Omit<InputProps, 'value' | 'onChange' | 'onKeyDown'> {
  /** Its name for assistive technology and, as a placeholder, for all. */
  label: string
  /** What the address says. */
  value: string
  /** Called when typing pauses, and at once on Enter. */
  onFilter: (text: string) => void
  /** 0: with each keystroke, for filters that answer at once. */
  pauseMs?: number
  /** What is wrong with a text; such a text does not become a filter. */
  refusal?: (text: string) => string | null
}

export const FilterInput = ({
  label,
  value,
  onFilter,
  pauseMs = typingPauseMs,
  refusal,
  className,
  ...rest
}: FilterInputProps) => {
  const [text, setText] = useState(value)
  const [known, setKnown] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  // The address changed by other means than this field: a link, the back button.
  if (value !== known) {
    setKnown(value)
    setText(value)
  }
  const problem = text === '' ? null : (refusal?.(text) ?? null)
  const filter = (next: string) => {
    clearTimeout(timer.current)
    if (next === known || (next !== '' && refusal?.(next))) return
    // Known before the address says so: when it does, text typed meanwhile must not be put back.
    setKnown(next)
    onFilter(next)
  }
  return (
    <span className={className}>
      <Input
        autoComplete="off"
        spellCheck={false}
        {...rest}
        aria-label={label}
        placeholder={label}
        aria-invalid={problem ? true : undefined}
        title={problem ?? undefined}
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          clearTimeout(timer.current)
          if (pauseMs === 0) filter(target.value)
          else timer.current = setTimeout(filter, pauseMs, target.value)
        }}
        onKeyDown={({ key }) => key === 'Enter' && filter(text)}
      />
      {problem && (
        <span role="alert" className="mt-0.5 block text-xs text-danger">
          {problem}
        </span>
      )}
    </span>
  )
}
