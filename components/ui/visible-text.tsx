import { classes } from './classes.ts'
import { cutEnd, visiblePieces } from './text.ts'

export interface VisibleTextProps {
  children: string
  /** To one line, or to three; the tooltip has the text. */
  truncate?: boolean | 3
  max?: number
  mono?: boolean
  /** Control characters to keep, such as tabs and newlines. */
  layout?: string
  className?: string
}

/** Untrusted text: isolates its direction and shows invisible characters. */
export const VisibleText = ({
  children,
  truncate,
  max = truncate ? longestName : Number.POSITIVE_INFINITY,
  mono,
  layout,
  className,
}: VisibleTextProps) => {
  // A name of only spaces would be invisible and unclickable.
  const shown = max <= longestName && children.trim() === '' ? children.replaceAll(' ', '␣') : children
  return (
    <bdi
      title={truncate ? cutEnd(children, 1000) : undefined}
      className={classes(
        truncate === 3
          ? 'line-clamp-3 wrap-anywhere'
          : truncate
            ? 'inline-block max-w-full truncate align-bottom'
            : 'break-words',
        mono && 'font-mono',
        className,
      )}
    >
      {visiblePieces(cutEnd(shown, max), layout).map(({ at, text, codePoint }) =>
        codePoint ? (
          <span
            key={at}
            title={codePoint}
            className="mx-px rounded-sm bg-surface-2 px-0.5 font-mono text-xs text-muted"
          >
            {text}
          </span>
        ) : (
          text
        ),
      )}
    </bdi>
  )
}

/** Longer texts are not names. */
const longestName = 300

/** Untrusted text with line breaks, for an element that preserves white space. */
export const VisibleLines = ({ children, max }: { children: string; max: number }) =>
  cutEnd(children, max)
    .split(/\r?\n/)
    .map((line, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity
      <span key={index} className="block min-h-[1lh]">
        {line !== '' && <VisibleText>{line}</VisibleText>}
      </span>
    ))

export const NameText = ({ children }: { children: string | null | undefined }) =>
  children ? <VisibleText truncate>{children}</VisibleText> : <span className="font-normal text-muted">Unnamed</span>
