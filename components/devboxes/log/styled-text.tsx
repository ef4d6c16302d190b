import { VisibleText } from '#components/ui/visible-text.tsx'
import type { Span } from '#lib/browser/text/console-text.ts'
import { cssOf } from '#lib/browser/text/text-style.ts'

interface StyledTextProps {
  spans: readonly Span[]
  max?: number
}

/** Needs a parent that preserves white space. */
export const StyledText = ({ spans, max = Number.POSITIVE_INFINITY }: StyledTextProps) => {
  let left = max
  return spans.map(({ text, style }, index) => {
    const available = left
    left -= text.length
    if (available <= 0) return null
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: spans have no other identity
      <span key={index} style={cssOf(style)}>
        <VisibleText layout={'\n\t'} max={available}>
          {text}
        </VisibleText>
      </span>
    )
  })
}
