import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { classes } from '#components/ui/classes.ts'
import { Popover, type PopoverProps } from '#components/ui/popover.tsx'

interface StatusPopoverProps extends Omit<PopoverProps, 'trigger'> {
  icon: LucideIcon
  /** Accessible name, including the value. */
  name: string
  color?: string | undefined
  figure?: ReactNode
}

/** A value in the terminal's bar with details in a popover. */
export const StatusPopover = ({ icon: Icon, name, color = 'text-muted', figure, ...popover }: StatusPopoverProps) => (
  <Popover
    {...popover}
    trigger={
      <button
        type="button"
        aria-label={name}
        title={name}
        className={classes(
          'tabular inline-flex h-6 shrink-0 items-center gap-1 rounded-md px-1.5 text-sm transition-colors hover:bg-surface-2',
          color,
        )}
      >
        <Icon aria-hidden className="size-3.5 shrink-0" />
        {figure}
      </button>
    }
  />
)
