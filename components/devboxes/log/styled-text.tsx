import { VisibleText } from '#components/ui/visible-text.tsx'
import type { Span } from '#lib/browser/text/console-text.ts'
import { cssOf } from '#lib/browser/text/text-style.ts'

interface StyledTextProps {
  spans: readonly Span[]
  /** Characters shown; what follows is cut. */
  max?: number
}

/** Text in the styles its program gave it; place it where white space is kept. */
export const StyledText = ({ spans, max = Number.POSITIVE_INFINITY }: StyledTextProps) => {
  let left = max
  return spans.map(({ text, style }, index) => {
    const room = left
    left -= text.length
    if (room <= 0) return null
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: spans have no other identity
      <span key={index} style={cssOf(style)}>
        <VisibleText layout={'\n\t'} max={room}>
          {text}
        </VisibleText>
      </span>
    )
  })
}
