'use client'
import { Slot } from 'radix-ui'
import {
  type FocusEvent,
  type PointerEvent,
  type ReactElement,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react'
import { loadOnUse } from './overlay/load-on-use.tsx'

export interface TooltipProps {
  content: ReactNode
  side?: 'top' | 'right' | 'bottom' | 'left'
  /** It is the name of what it stands beside and no more: the pointer goes through it to what lies below. */
  isName?: boolean
  /** One element that can take focus. */
  children: ReactElement
}

const TooltipContent = loadOnUse(async () => (await import('./overlay/tooltip-content.tsx')).TooltipContent)

const openDelayMs = 350
/** Long enough to move the pointer onto the tooltip. */
const closeDelayMs = 120
/** After one tooltip the next comes without delay. */
const readOnMs = 200
let closedAtMs = Number.NEGATIVE_INFINITY

export const Tooltip = ({ content, side = 'top', isName = false, children }: TooltipProps) => {
  const [isOpen, setIsOpen] = useState(false)
  const anchor = useRef<HTMLElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const id = useId()
  useEffect(() => () => clearTimeout(timer.current), [])

  const change = (next: boolean, delayMs = 0) => {
    clearTimeout(timer.current)
    const apply = () => {
      setIsOpen(next)
      if (isOpen && !next) closedAtMs = performance.now()
    }
    if (delayMs > 0) timer.current = setTimeout(apply, delayMs)
    else apply()
  }
  const enter = ({ pointerType }: PointerEvent) => {
    if (pointerType === 'touch') return
    change(true, isOpen || performance.now() - closedAtMs < readOnMs ? 0 : openDelayMs)
  }
  const leave = () => change(false, isOpen ? closeDelayMs : 0)
  return (
    <>
      <Slot.Root
        ref={anchor}
        aria-describedby={isOpen ? id : undefined}
        onPointerEnter={enter}
        onPointerLeave={leave}
        onPointerDown={() => change(false)}
        onClick={() => change(false)}
        onFocus={({ currentTarget }: FocusEvent) => currentTarget.matches(':focus-visible') && change(true)}
        onBlur={() => change(false)}
      >
        {children}
      </Slot.Root>
      {isOpen && (
        <TooltipContent
          id={id}
          anchor={anchor}
          side={side}
          isName={isName}
          onPointerEnter={enter}
          onPointerLeave={leave}
          onClose={() => change(false)}
        >
          {content}
        </TooltipContent>
      )}
    </>
  )
}
