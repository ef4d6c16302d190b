'use client'
import { Tooltip as Primitive } from 'radix-ui'
import type { FocusEvent, ReactElement, ReactNode } from 'react'
import { classes } from './classes.ts'

interface TooltipProps {
  content: ReactNode
  side?: 'top' | 'right' | 'bottom' | 'left'
  /** The tooltip only names its element, so pointer events pass through it. */
  isName?: boolean
  children: ReactElement
}

export const Tooltip = ({ content, side = 'top', isName = false, children }: TooltipProps) => (
  <Primitive.Provider delayDuration={350} disableHoverableContent={isName}>
    <Primitive.Root>
      <Primitive.Trigger asChild onFocus={ignorePointerFocus}>
        {children}
      </Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Content
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className={classes(
            'animate-appear z-50 max-w-72 rounded-md bg-overlay px-2 py-1 text-sm text-text shadow-overlay',
            isName && 'pointer-events-none',
          )}
        >
          {content}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  </Primitive.Provider>
)

/** Focus that a closing dialog returns after a click must not open the tooltip. */
const ignorePointerFocus = (event: FocusEvent) => {
  if (!event.currentTarget.matches(':focus-visible')) event.preventDefault()
}
