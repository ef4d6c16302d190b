'use client'
import { Popover } from 'radix-ui'
import { type RefObject, useRef } from 'react'
import { classes } from '../classes.ts'
import type { PopoverProps } from '../popover.tsx'

interface PopoverContentProps extends Omit<PopoverProps, 'trigger' | 'open' | 'onOpenChange'> {
  anchor: RefObject<HTMLElement | null>
  id: string
  isOpen: boolean
  onOpenChange: (open: boolean) => void
}

/** What a `Popover` opens. Its trigger is drawn before this code is there, so it stands outside of it. */
export const PopoverContent = ({
  anchor,
  id,
  isOpen,
  onOpenChange,
  label,
  align = 'end',
  className,
  children,
}: PopoverContentProps) => {
  const isLeft = useRef(false)
  return (
    <Popover.Root open={isOpen} onOpenChange={onOpenChange}>
      <Popover.Anchor virtualRef={anchor as RefObject<HTMLElement>} />
      <Popover.Portal>
        <Popover.Content
          id={id}
          align={align}
          sideOffset={4}
          collisionPadding={8}
          aria-label={label}
          onInteractOutside={(event) => {
            // The trigger closes it by itself.
            if (anchor.current?.contains(event.target as Node)) event.preventDefault()
            else isLeft.current = true
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            if (!isLeft.current) anchor.current?.focus()
            isLeft.current = false
          }}
          className={classes(
            'animate-appear z-30 w-72 max-w-[calc(100vw-1rem)] space-y-3 rounded-md bg-overlay p-3 shadow-overlay outline-none',
            className,
          )}
        >
          {children}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
