import { Minus, PencilLine, Plus } from 'lucide-react'
import { VisibleText } from '#components/ui/visible-text.tsx'

interface MetadataChangesProps {
  before: Readonly<Record<string, string>>
  after: Readonly<Record<string, string>>
  title?: string
}

export const MetadataChanges = ({ before, after, title = 'Changes' }: MetadataChangesProps) => {
  const changes = metadataChanges(before, after)
  const removed = changes.filter(({ kind }) => kind === 'removed').length
  return (
    <section aria-label={title} className="space-y-1">
      <h3 className="font-medium">{title}</h3>
      {changes.length === 0 ? (
        <p className="text-sm text-muted">No changes.</p>
      ) : (
        <ul className="divide-y divide-line rounded-md border border-line">
          {changes.map((change) => (
            <Change key={change.key} change={change} />
          ))}
        </ul>
      )}
      {removed > 0 && (
        <p className="text-sm text-danger">
          {removed} of {Object.keys(before).length} will be removed.
        </p>
      )}
    </section>
  )
}

const kinds = {
  added: { icon: Plus, word: 'Added', color: 'text-ok' },
  removed: { icon: Minus, word: 'Removed', color: 'text-danger' },
  changed: { icon: PencilLine, word: 'Changed', color: 'text-progress' },
} as const

const Change = ({ change }: { change: MetadataChange }) => {
  const { icon: Icon, word, color } = kinds[change.kind]
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

export type MetadataChange =
  | { kind: 'added'; key: string; after: string }
  | { kind: 'removed'; key: string; before: string }
  | { kind: 'changed'; key: string; before: string; after: string }

type Metadata = Readonly<Record<string, string>>

export const metadataChanges = (before: Metadata, after: Metadata): MetadataChange[] => {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return keys.flatMap((key): MetadataChange[] => {
    const [was, is] = [before[key] as string, after[key] as string]
    if (!Object.hasOwn(before, key)) return [{ kind: 'added', key, after: is }]
    if (!Object.hasOwn(after, key)) return [{ kind: 'removed', key, before: was }]
    return was === is ? [] : [{ kind: 'changed', key, before: was, after: is }]
  })
}
