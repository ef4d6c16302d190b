'use client'
import { Popover as Primitive } from 'radix-ui'
import type { ReactElement, ReactNode } from 'react'
import { classes } from './classes.ts'

export interface PopoverProps {
  /** One button. */
  trigger: ReactElement
  label: string
  align?: 'start' | 'end'
  open?: boolean
  onOpenChange?: (open: boolean) => void
  className?: string
  children: ReactNode
}

/** What belongs to a button and is too much for it: details, a few fields. */
export const Popover = ({ trigger, label, align = 'end', open, onOpenChange, className, children }: PopoverProps) => (
  <Primitive.Root {...(open !== undefined && { open })} {...(onOpenChange && { onOpenChange })}>
    <Primitive.Trigger asChild>{trigger}</Primitive.Trigger>
    <Primitive.Portal>
      <Primitive.Content
        align={align}
        sideOffset={4}
        collisionPadding={8}
        aria-label={label}
        className={classes(
          'animate-appear z-30 w-72 max-w-[calc(100vw-1rem)] space-y-3 rounded-md bg-overlay p-3 shadow-overlay outline-none',
          className,
        )}
      >
        {children}
      </Primitive.Content>
    </Primitive.Portal>
  </Primitive.Root>
)
