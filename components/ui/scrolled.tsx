import type { ComponentProps } from 'react'
import { classes } from './classes.ts'
import { VisibleLines } from './visible-text.tsx'

export const Scrolled = (props: ComponentProps<'div'>) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling needs keyboard access
  <div tabIndex={0} {...props} />
)

interface ScrolledTextProps {
  ref?: (element: HTMLElement | null) => void
  max?: number
  className?: string
  /** Prose rather than program output. */
  prose?: boolean
  children: string
}

/** Untrusted multi-line text in a scrollable box. */
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
