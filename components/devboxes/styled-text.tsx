import { VisibleText } from '#components/ui/visible-text.tsx'
import { cssOf } from '#lib/console/frame/text-style.ts'
import type { StyledPiece } from '#lib/console/live/ansi.ts'

interface StyledTextProps {
  pieces: readonly StyledPiece[]
  /** Shows what would act unseen. */
  visible?: boolean
}

/** Text with the colours its program gave it. */
export const StyledText = ({ pieces, visible }: StyledTextProps) =>
  pieces.map(({ at, text, style }) => {
    const css = cssOf(style)
    if (!css && !visible) return text
    return (
      <span key={at} style={css}>
        {visible ? <VisibleText>{text}</VisibleText> : text}
      </span>
    )
  })
