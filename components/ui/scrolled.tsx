import type { ComponentProps } from 'react'
import { classes } from './classes.ts'
import { VisibleLines } from './visible-text.tsx'

/** What scrolls in a page that does as well, and is reached by keyboard. */
export const Scrolled = (props: ComponentProps<'div'>) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
  <div tabIndex={0} {...props} />
)

interface ScrolledTextProps {
  ref?: (element: HTMLElement | null) => void
  /** Characters that are shown. */
  max?: number
  /** How high it may be. */
  className?: string
  /** Written by people, and not by a program. */
  prose?: boolean
  children: string
}

/** Text as somebody else wrote it. Marks for screen readers are placed in it, and would lengthen the page otherwise. */
export const ScrolledText = ({
  ref,
  max = 40_000,
  className = 'max-h-72',
  prose = false,
  children,
}: ScrolledTextProps) => (
  <Scrolled
    ref={ref}
    className={classes(
      'relative overflow-auto rounded-md border border-line bg-surface-1 px-3 py-2 break-words whitespace-pre-wrap',
      prose ? 'max-w-prose' : 'font-mono text-sm',
      className,
    )}
  >
    <VisibleLines max={max}>{children}</VisibleLines>
  </Scrolled>
)
