import { LoaderCircle } from 'lucide-react'
import { classes } from './classes.ts'

export interface SpinnerProps {
  label?: string
  /** Shown at once instead of after 300 ms. */
  immediate?: boolean
  className?: string
}

export const Spinner = ({ label = 'Loading', immediate, className }: SpinnerProps) => (
  <span role="status" className={classes('inline-flex', !immediate && 'animate-appear-late')}>
    <LoaderCircle aria-hidden className={classes('size-4 motion-safe:animate-spin', className)} />
    <span className="sr-only">{label}</span>
  </span>
)
