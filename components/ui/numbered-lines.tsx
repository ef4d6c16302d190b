import { classes } from './classes.ts'
import { Scrolled } from './scrolled.tsx'
import { VisibleText } from './visible-text.tsx'

interface NumberedLinesProps {
  label: string
  /** Untrusted lines that don't change. */
  lines: readonly string[]
  /** Counts from 1. */
  marked?: number
  /** Each line is a step rather than a line of one text. */
  ruled?: boolean
}

export const NumberedLines = ({ label, lines, marked, ruled = false }: NumberedLinesProps) => (
  <Scrolled className="max-h-[40rem] overflow-y-auto rounded-md border border-line">
    <ol aria-label={label} className={classes('font-mono text-sm', !ruled && 'py-1.5')}>
      {lines.map((line, index) => (
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity
          key={index}
          aria-current={index + 1 === marked || undefined}
          className={classes(
            'flex gap-3 px-3 leading-5',
            ruled && 'border-line py-1.5 not-first:border-t',
            index + 1 === marked && 'bg-danger-bg text-danger',
          )}
        >
          <span
            aria-hidden
            className={classes('tabular min-w-5 shrink-0 text-right select-none', index + 1 !== marked && 'text-muted')}
          >
            {index + 1}
          </span>
          <span className="min-w-0 whitespace-pre-wrap wrap-anywhere">
            <VisibleText max={2000} layout={'\t\n'}>
              {line}
            </VisibleText>
          </span>
        </li>
      ))}
    </ol>
  </Scrolled>
)
