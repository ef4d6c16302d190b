import { classes } from './classes.ts'
import { cutEnd, visiblePieces } from './text.ts'

export interface VisibleTextProps {
  children: string
  /** On one line, or on three, cut where the room ends; the start of the text is in the tooltip. */
  truncate?: boolean | 3
  /** Longest text that is put in the page, in characters. */
  max?: number
  mono?: boolean
  /** Control characters that are obeyed, such as tabs and newlines. */
  layout?: string
  className?: string
}

/** Text from outside: its direction cannot leak, and what would act unseen is shown. */
export const VisibleText = ({
  children,
  truncate,
  max = truncate ? longestName : Number.POSITIVE_INFINITY,
  mono,
  layout,
  className,
}: VisibleTextProps) => {
  // A name of spaces alone would leave nothing to see or to press.
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

/** What is longer is no name but lines, where spaces are only spaces. */
const longestName = 300

/** Text of several lines from outside, as `VisibleText` is of one; place it where white space is kept. */
export const VisibleLines = ({ children, max }: { children: string; max: number }) =>
  cutEnd(children, max)
    .split(/\r?\n/)
    .map((line, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
      <span key={index} className="block min-h-[1lh]">
        {line !== '' && <VisibleText>{line}</VisibleText>}
      </span>
    ))

/** What a row is named, on one line. */
export const NameText = ({ children }: { children: string | null | undefined }) =>
  children ? <VisibleText truncate>{children}</VisibleText> : <span className="font-normal text-muted">Unnamed</span>
