'use client'
import { Slot } from 'radix-ui'
import type { ReactElement, ReactNode } from 'react'
import { loadOnUse } from './overlay/load-on-use.tsx'
import { type OverlayState, useOverlay } from './overlay/use-overlay.ts'

export interface PopoverProps extends OverlayState {
  /** One button. */
  trigger: ReactElement
  label: string
  align?: 'start' | 'end'
  className?: string
  children: ReactNode
}

const PopoverContent = loadOnUse(async () => (await import('./overlay/popover-content.tsx')).PopoverContent)

/** What belongs to a button and is too much for it: details, a few fields. */
export const Popover = ({ trigger, open, onOpenChange, ...rest }: PopoverProps) => {
  const popover = useOverlay({ open, onOpenChange })
  return (
    <>
      <Slot.Root {...popover.trigger} aria-haspopup="dialog" onClick={() => popover.setIsOpen(!popover.isOpen)}>
        {trigger}
      </Slot.Root>
      {popover.isNear && (
        <PopoverContent {...rest} {...popover.content} isOpen={popover.isOpen} onOpenChange={popover.setIsOpen} />
      )}
    </>
  )
}
