import type { ComponentProps } from 'react'
import { classes } from './classes.ts'
import { controlClasses } from './input.tsx'

export interface TextareaProps extends ComponentProps<'textarea'> {
  mono?: boolean
}

export const Textarea = ({ mono, className, ...rest }: TextareaProps) => (
  <textarea rows={3} {...rest} className={classes(controlClasses, 'px-2.5 py-1.5', mono && 'font-mono', className)} />
)
