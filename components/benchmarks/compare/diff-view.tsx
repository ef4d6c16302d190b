import { classes } from '#components/ui/classes.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import type { DiffLine } from './line-diff.ts'

const marks: Record<DiffLine['kind'], string> = { same: ' ', removed: '−', added: '+' }
const tones: Record<DiffLine['kind'], string> = {
  same: 'text-muted',
  removed: 'bg-danger-bg text-danger',
  added: 'bg-ok-bg text-ok',
}
const maxLines = 2000
const contextLines = 3

export const DiffView = ({ title, lines }: { title: string; lines: readonly DiffLine[] }) => {
  const changed = lines.filter(({ kind }) => kind !== 'same').length
  const shown = withFolds(lines)
  return (
    <figure className="min-w-0 space-y-1">
      <figcaption>
        <VisibleText max={200} className="font-medium">
          {title}
        </VisibleText>{' '}
        <span className="text-muted">
          {changed === 0 ? 'no changes' : `${formatCount(changed)} of ${formatCount(lines.length)} lines changed`}
        </span>
      </figcaption>
      {changed > 0 && (
        <pre
          // biome-ignore lint/a11y/noNoninteractiveTabindex: scroll regions must be focusable
          tabIndex={0}
          // Contains the absolutely positioned screen reader text.
          className="relative max-h-96 overflow-auto rounded-md border border-line bg-surface-1 py-2 font-mono text-sm"
        >
          {shown.slice(0, maxLines).map((line, index) =>
            'folded' in line ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
              <div key={index} className="bg-surface-2 px-3 text-muted">
                {formatCountOf(line.folded, 'equal line')}
              </div>
            ) : (
              <div
                // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
                key={index}
                className={classes('px-3', tones[line.kind])}
              >
                <span aria-hidden>{marks[line.kind]} </span>
                {line.kind !== 'same' && <span className="sr-only">{line.kind}: </span>}
                <VisibleText max={2000}>{line.text}</VisibleText>
              </div>
            ),
          )}
          {shown.length > maxLines && (
            <div className="px-3 text-muted">and {formatCount(shown.length - maxLines)} more lines</div>
          )}
        </pre>
      )}
    </figure>
  )
}

/** Replaces equal lines away from any change by their count. */
const withFolds = (lines: readonly DiffLine[]): (DiffLine | { folded: number })[] => {
  const near = new Set<number>()
  for (const [at, { kind }] of lines.entries())
    if (kind !== 'same') for (let i = at - contextLines; i <= at + contextLines; i++) near.add(i)
  const shown: (DiffLine | { folded: number })[] = []
  for (const [at, line] of lines.entries()) {
    const last = shown.at(-1)
    if (near.has(at)) shown.push(line)
    else if (last && 'folded' in last) last.folded += 1
    else shown.push({ folded: 1 })
  }
  return shown
}
