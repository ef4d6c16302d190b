'use client'
import { Popover as Primitive } from 'radix-ui'
import type { ReactElement, ReactNode } from 'react'
import { classes } from './classes.ts'
import { NoPageActions } from './page-actions.tsx'

export interface PopoverProps {
  trigger: ReactElement
  label: string
  align?: 'start' | 'end'
  className?: string
  open?: boolean
  onOpenChange?: (open: boolean) => void
  children: ReactNode
}

export const Popover = ({ trigger, label, align = 'end', className, children, ...state }: PopoverProps) => (
  <Primitive.Root {...state}>
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
        <NoPageActions>{children}</NoPageActions>
      </Primitive.Content>
    </Primitive.Portal>
  </Primitive.Root>
)
