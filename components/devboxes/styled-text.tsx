import type { CSSProperties } from 'react'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { StyledPiece, TextStyle } from '#lib/console/live/ansi.ts'

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

const palette = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']
const named = (index: number) => `var(--terminal-${index > 7 ? 'bright-' : ''}${palette[index % 8]})`

// A colour of the program's own choice is drawn towards the text's, and a background towards the page's: both stay
// legible in either theme.
const inkOf = (colour: number | string) =>
  typeof colour === 'number'
    ? `color-mix(in oklab, ${named(colour)} 55%, var(--text))`
    : `color-mix(in oklab, rgb(${colour}) 25%, var(--text))`
const groundOf = (colour: number | string) =>
  `color-mix(in oklab, ${typeof colour === 'number' ? named(colour) : `rgb(${colour})`} 18%, var(--surface-0))`

const cssOf = (style: TextStyle): CSSProperties | undefined => {
  const { colour, background, bold, dim, italic, underline, strike, inverse } = style
  if (!Object.values(style).some((value) => value !== undefined && value !== false)) return undefined
  const [ink, ground] = inverse ? [background, colour ?? 8] : [colour, background]
  return {
    color: ink !== undefined ? inkOf(ink) : dim ? 'var(--text-muted)' : undefined,
    backgroundColor: ground !== undefined ? groundOf(ground) : undefined,
    fontWeight: bold ? 600 : undefined,
    fontStyle: italic ? 'italic' : undefined,
    textDecoration: [underline && 'underline', strike && 'line-through'].filter(Boolean).join(' ') || undefined,
  }
}
