import type { LucideIcon as Icon } from 'lucide-react'
import type { ComponentProps, ReactNode } from 'react'
import { classes } from '#components/ui/classes.ts'

interface StatusButtonProps extends ComponentProps<'button'> {
  icon: Icon
  /** Its name, with what it shows in words. */
  label: string
  colour?: string | undefined
  children?: ReactNode
}

/** A figure in a terminal's bar that says more when it is pressed. */
export const StatusButton = ({ icon: Icon, label, colour = 'text-muted', children, ...rest }: StatusButtonProps) => (
  <button
    type="button"
    {...rest}
    aria-label={label}
    title={label}
    className={classes(
      'tabular inline-flex h-6 shrink-0 items-center gap-1 rounded-md px-1.5 text-sm transition-colors hover:bg-surface-2',
      colour,
    )}
  >
    <Icon aria-hidden className="size-3.5 shrink-0" />
    {children}
  </button>
)
