import { ChevronDown } from 'lucide-react'
import type { ComponentProps } from 'react'
import { classes } from './classes.ts'
import { controlClasses } from './input.tsx'

export interface SelectProps extends Omit<ComponentProps<'select'>, 'children'> {
  options: readonly { value: string; label: string }[]
}

export const Select = ({ options, className, ...rest }: SelectProps) => (
  <span className={classes('relative inline-flex', className)}>
    <select {...rest} className={classes(controlClasses, 'h-8 appearance-none pr-8 pl-2.5')}>
      {options.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
    <ChevronDown aria-hidden className="pointer-events-none absolute top-2 right-2.5 size-4 text-muted" />
  </span>
)
