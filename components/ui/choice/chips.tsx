import { type ReactNode, useId } from 'react'
import { classes } from '../classes.ts'

interface ChipsProps<Value> {
  legend: ReactNode
  legendClassName?: string
  value: Value
  options: readonly { value: Value; label: ReactNode }[]
  onChange: (value: Value) => void
  large?: boolean
}

export const Chips = <Value extends string | number>({
  legend,
  legendClassName = 'sr-only',
  value,
  options,
  onChange,
  large = false,
}: ChipsProps<Value>) => {
  const name = useId()
  return (
    <fieldset data-choice="" className="flex flex-wrap gap-1">
      <legend className={legendClassName}>{legend}</legend>
      {options.map((option) => (
        <label
          key={option.value}
          className={classes(
            'inline-flex cursor-pointer items-center gap-1.5 rounded-md border border-line has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-focus',
            large ? 'h-8 px-3 has-checked:font-medium' : 'h-7 px-2 text-sm',
          )}
        >
          <input
            type="radio"
            name={name}
            className="sr-only"
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  )
}
