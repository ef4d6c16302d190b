import { Minus, PencilLine, Plus } from 'lucide-react'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { type MetadataChange, metadataChanges } from '#lib/browser/lists/metadata-diff.ts'

interface MetadataChangesProps {
  before: Readonly<Record<string, string>>
  after: Readonly<Record<string, string>>
  title?: string
}

/** What replacing `before` by `after` adds, changes and takes away. */
export const MetadataChanges = ({ before, after, title = 'What will change' }: MetadataChangesProps) => {
  const changes = metadataChanges(before, after)
  const removed = changes.filter(({ kind }) => kind === 'removed').length
  return (
    <section aria-label={title} className="space-y-1">
      <h3 className="font-medium">{title}</h3>
      {changes.length === 0 ? (
        <p className="text-sm text-muted">Nothing yet.</p>
      ) : (
        <ul className="divide-y divide-line rounded-md border border-line">
          {changes.map((change) => (
            <Change key={change.key} change={change} />
          ))}
        </ul>
      )}
      {removed > 0 && (
        <p className="text-sm text-danger">
          {removed} of {Object.keys(before).length} {removed === 1 ? 'vanishes' : 'vanish'} with the save.
        </p>
      )}
    </section>
  )
}

const looks = {
  added: { icon: Plus, word: 'Added', color: 'text-ok' },
  removed: { icon: Minus, word: 'Removed', color: 'text-danger' },
  changed: { icon: PencilLine, word: 'Changed', color: 'text-progress' },
} as const

const Change = ({ change }: { change: MetadataChange }) => {
  const { icon: Icon, word, color } = looks[change.kind]
  return (
    <li className="flex min-w-0 items-start gap-2 px-2 py-1">
      <span className={`inline-flex w-20 shrink-0 items-center gap-1 text-sm ${color}`}>
        <Icon aria-hidden className="size-3.5" />
        {word}
      </span>
      <span className="min-w-0 font-mono text-sm break-all">
        <VisibleText max={200} className="text-muted">
          {change.key}
        </VisibleText>
        <span className="text-muted">=</span>
        {change.kind !== 'added' && (
          <del className="text-muted">
            <VisibleText max={300}>{change.before}</VisibleText>
          </del>
        )}
        {change.kind === 'changed' && ' '}
        {change.kind !== 'removed' && (
          <ins className="no-underline">
            <VisibleText max={300}>{change.after}</VisibleText>
          </ins>
        )}
      </span>
    </li>
  )
}
