'use client'
import { Portal } from 'radix-ui'
import { DismissableLayer, Popper } from 'radix-ui/internal'
import { type PointerEventHandler, type ReactNode, type RefObject, useEffect } from 'react'
import { classes } from '../classes.ts'
import type { TooltipProps } from '../tooltip.tsx'

interface TooltipContentProps extends Pick<TooltipProps, 'side' | 'isName'> {
  id: string
  anchor: RefObject<HTMLElement | null>
  children: ReactNode
  onPointerEnter: PointerEventHandler
  onPointerLeave: PointerEventHandler
  onClose: () => void
}

/** What a `Tooltip` shows while it is open. */
export const TooltipContent = ({ id, anchor, side, isName, children, onClose, ...pointer }: TooltipContentProps) => {
  useEffect(() => {
    const close = ({ target }: Event) => {
      if (target instanceof Node && target.contains(anchor.current)) onClose()
    }
    addEventListener('scroll', close, true)
    return () => removeEventListener('scroll', close, true)
  }, [anchor, onClose])
  return (
    <Popper.Root>
      <Popper.Anchor virtualRef={anchor as RefObject<HTMLElement>} />
      <Portal.Root asChild>
        <DismissableLayer.Root asChild onFocusOutside={(event) => event.preventDefault()} onDismiss={onClose}>
          <Popper.Content
            {...pointer}
            id={id}
            role="tooltip"
            side={side}
            sideOffset={6}
            collisionPadding={8}
            className={classes(
              'animate-appear z-50 max-w-72 rounded-md bg-overlay px-2 py-1 text-sm text-text shadow-overlay',
              isName && 'pointer-events-none',
            )}
          >
            {children}
          </Popper.Content>
        </DismissableLayer.Root>
      </Portal.Root>
    </Popper.Root>
  )
}
