'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Minus, PencilLine, Plus } from 'lucide-react'
import { useState } from 'react'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { KeyValueEditor } from '#components/ui/key-value-editor.tsx'
import { rowsToMap } from '#components/ui/key-values.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { axonMutations, axonQueries } from '#lib/console/queries/axons.ts'
import type { Axon } from '#lib/contract/axons.ts'
import { type MetadataChange, metadataChanges } from './metadata-diff.ts'

/** Mount it when it opens: it starts from the axon as it is then, and compares with the axon as it is now. */
export const EditMetadataDialog = ({ axon, onClose }: { axon: Axon; onClose: () => void }) => {
  const [rows, setRows] = useState(Object.entries(axon.metadata).map(([key, value]) => ({ key, value })))
  const [problem, setProblem] = useState<string | null>(null)
  const known = useQuery({ ...axonQueries.metadataKeys(), retry: false })
  const update = useMutation(axonMutations.update())
  const read = rowsToMap(rows)
  const changes = read.ok ? metadataChanges(axon.metadata, read.map) : []
  const submit = () => {
    setProblem(read.ok ? null : read.message)
    if (!read.ok || changes.length === 0) return
    update.mutate({ id: axon.id, metadata: read.map }, { onSuccess: onClose })
  }
  return (
    <FormDialog
      open
      onOpenChange={onClose}
      title="Edit metadata"
      busy={update.isPending}
      onSubmit={submit}
      submitLabel="Save metadata"
      refusal={read.ok && changes.length === 0 ? 'nothing is changed yet' : null}
      error={update.error}
    >
      <KeyValueEditor
        label="Metadata"
        addLabel="Add metadata"
        value={rows}
        onChange={setRows}
        keySuggestions={known.data?.keys}
        hint="What stands here replaces all of it."
        error={problem}
      />
      <section aria-label="What will change" className="space-y-1">
        <h3 className="font-medium">What will change</h3>
        {!read.ok ? (
          <p className="text-sm text-muted">{read.message}</p>
        ) : changes.length === 0 ? (
          <p className="text-sm text-muted">Nothing yet.</p>
        ) : (
          <ul className="divide-y divide-line rounded-md border border-line">
            {changes.map((change) => (
              <Change key={change.key} change={change} />
            ))}
          </ul>
        )}
      </section>
    </FormDialog>
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
