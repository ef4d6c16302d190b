'use client'
import { Tooltip as Primitive } from 'radix-ui'
import type { ReactElement, ReactNode } from 'react'

export interface TooltipProps {
  content: ReactNode
  side?: 'top' | 'right' | 'bottom' | 'left'
  /** One element that can take focus. */
  children: ReactElement
}

export const Tooltip = ({ content, side = 'top', children }: TooltipProps) => (
  <Primitive.Root>
    <Primitive.Trigger asChild>{children}</Primitive.Trigger>
    <Primitive.Portal>
      <Primitive.Content
        side={side}
        sideOffset={6}
        collisionPadding={8}
        className="animate-appear z-50 max-w-72 rounded-md bg-overlay px-2 py-1 text-sm text-text shadow-overlay"
      >
        {content}
      </Primitive.Content>
    </Primitive.Portal>
  </Primitive.Root>
)

/** One of these around the application lets tooltips share their delay. */
export const TooltipProvider = ({ children }: { children: ReactNode }) => (
  <Primitive.Provider delayDuration={350} skipDelayDuration={200}>
    {children}
  </Primitive.Provider>
)
