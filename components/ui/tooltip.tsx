'use client'
import { Portal, Slot } from 'radix-ui'
import { DismissableLayer, Popper } from 'radix-ui/internal'
import {
  type FocusEvent,
  type PointerEvent,
  type ReactElement,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react'
import { classes } from './classes.ts'

interface TooltipProps {
  content: ReactNode
  side?: 'top' | 'right' | 'bottom' | 'left'
  /** The tooltip only names its element, so pointer events pass through it. */
  isName?: boolean
  /** One focusable element. */
  children: ReactElement
}

const openDelayMs = 350
/** Long enough to move the pointer onto the tooltip. */
const closeDelayMs = 120
/** After a tooltip has closed, the next one opens without delay for this long. */
const skipDelayMs = 200
let closedAtMs = Number.NEGATIVE_INFINITY

/** Radix only once open: rows of a table have several tooltips each, and a Radix root for each would slow down scrolling. */
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
    change(true, isOpen || performance.now() - closedAtMs < skipDelayMs ? 0 : openDelayMs)
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
        <Popper.Root>
          <Popper.Anchor virtualRef={anchor as RefObject<HTMLElement>} />
          <Portal.Root asChild>
            <DismissableLayer.Root
              asChild
              onFocusOutside={(event) => event.preventDefault()}
              onDismiss={() => change(false)}
            >
              <Popper.Content
                id={id}
                role="tooltip"
                side={side}
                sideOffset={6}
                collisionPadding={8}
                onPointerEnter={enter}
                onPointerLeave={leave}
                className={classes(
                  'animate-appear z-50 max-w-72 rounded-md bg-overlay px-2 py-1 text-sm text-text shadow-overlay',
                  isName && 'pointer-events-none',
                )}
              >
                {content}
                <CloseOnScroll anchor={anchor} onClose={() => change(false)} />
              </Popper.Content>
            </DismissableLayer.Root>
          </Portal.Root>
        </Popper.Root>
      )}
    </>
  )
}

const CloseOnScroll = ({ anchor, onClose }: { anchor: RefObject<HTMLElement | null>; onClose: () => void }) => {
  useEffect(() => {
    const close = ({ target }: Event) => {
      if (target instanceof Node && target.contains(anchor.current)) onClose()
    }
    addEventListener('scroll', close, true)
    return () => removeEventListener('scroll', close, true)
  }, [anchor, onClose])
  return null
}
