import { useId, useRef, useState } from 'react'

export interface OverlayState {
  /** For an overlay that something else than its trigger opens. */
  open?: boolean
  onOpenChange?: (open: boolean) => void
}

/**
 * The state of a trigger and of what opens from it. The code of the latter is downloaded when the pointer or the focus
 * first comes to the trigger (`isNear`), so that it is there by the time of the click.
 */
export const useOverlay = ({ open, onOpenChange }: OverlayState) => {
  const anchor = useRef<HTMLElement>(null)
  const [isOwnOpen, setIsOwnOpen] = useState(false)
  const [isNear, setIsNear] = useState(false)
  const isOpen = open ?? isOwnOpen
  const id = useId()
  const approach = () => setIsNear(true)
  return {
    isOpen,
    isNear: isNear || isOpen,
    setIsOpen: (next: boolean) => {
      setIsOwnOpen(next)
      onOpenChange?.(next)
    },
    content: { anchor, id },
    trigger: {
      ref: anchor,
      'aria-expanded': isOpen,
      'aria-controls': isOpen ? id : undefined,
      'data-state': isOpen ? 'open' : 'closed',
      onPointerEnter: approach,
      onFocus: approach,
    },
  }
}
