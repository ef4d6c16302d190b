import { useQueries } from '@tanstack/react-query'
import { classes } from '#components/ui/classes.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/browser/format.ts'
import type { CompareReport } from '#lib/protocol/reports.ts'
import { benchmarkJobQueries } from '../job/queries.ts'

/** Line diffs of Harbor job files against the baseline. The server masks secrets. */
export const YamlDiffs = ({ report: { jobs, agents, baseline } }: { report: CompareReport }) => {
  const baseId = agents.find(({ benchmark_run_id }) => benchmark_run_id === baseline)?.job_id ?? baseline
  const read = useQueries({ queries: jobs.length > 1 ? jobs.map(({ id }) => benchmarkJobQueries.get(id)) : [] })
  const files = read.flatMap(({ data }) => {
    const yaml = data?.job_source?.inline_yaml
    return data && yaml != null ? [{ id: data.id, name: data.name, yaml }] : []
  })
  const base = files.find(({ id }) => id === baseId)
  if (!base || files.length < 2) return null
  return (
    <section aria-label="Job files" className="space-y-3">
      <h2 className="text-lg font-medium">Job files</h2>
      {files
        .filter((file) => file !== base)
        .map(({ id, name, yaml }) => (
          <Diff key={id} title={`${base.name} to ${name}`} lines={lineDiff(base.yaml, yaml)} />
        ))}
    </section>
  )
}

const marks: Record<DiffLine['kind'], string> = { same: ' ', removed: '−', added: '+' }
const tones: Record<DiffLine['kind'], string> = {
  same: 'text-muted',
  removed: 'bg-danger-bg text-danger',
  added: 'bg-ok-bg text-ok',
}
const maxLines = 2000

const Diff = ({ title, lines }: { title: string; lines: readonly DiffLine[] }) => {
  const changed = lines.filter(({ kind }) => kind !== 'same').length
  return (
    <figure className="space-y-1">
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
          {lines.slice(0, maxLines).map(({ kind, text }, index) => (
            <div
              // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
              key={index}
              className={classes('px-3', tones[kind])}
            >
              <span aria-hidden>{marks[kind]} </span>
              {kind !== 'same' && <span className="sr-only">{kind}: </span>}
              <VisibleText max={2000}>{text}</VisibleText>
            </div>
          ))}
          {lines.length > maxLines && (
            <div className="px-3 text-muted">and {formatCount(lines.length - maxLines)} more lines</div>
          )}
        </pre>
      )}
    </figure>
  )
}

interface DiffLine {
  kind: 'same' | 'removed' | 'added'
  text: string
}

/** Above this many pairs of lines, a diff is one removal and one addition. */
const mostPairs = 4_000_000

export const lineDiff = (before: string, after: string): DiffLine[] => {
  const [a, b] = [before.split('\n'), after.split('\n')]
  const removed = (text = ''): DiffLine => ({ kind: 'removed', text })
  const added = (text = ''): DiffLine => ({ kind: 'added', text })
  if (before === after) return a.map((text) => ({ kind: 'same', text }))
  if (a.length * b.length > mostPairs) return [...a.map(removed), ...b.map(added)]
  const width = b.length + 1
  const longest = new Uint16Array((a.length + 1) * width)
  const at = (i: number, j: number) => longest[i * width + j] as number
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      longest[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length)
    if (a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i] as string })
      i++
      j++
    } else if (at(i + 1, j) >= at(i, j + 1)) lines.push(removed(a[i++]))
    else lines.push(added(b[j++]))
  return [...lines, ...a.slice(i).map(removed), ...b.slice(j).map(added)]
}
