'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { MetadataChanges, metadataChanges } from '#components/list/metadata-changes.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { KeyValueEditor } from '#components/ui/key-value-editor.tsx'
import { rowsToMap } from '#components/ui/key-values.ts'
import type { Axon } from '#lib/contract/axons.ts'
import { axonMutations, axonQueries } from './queries.ts'

/** Mount when opened: fields start from the axon at that time. */
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
      losesInput
      onOpenChange={onClose}
      title="Edit metadata"
      busy={update.isPending}
      onSubmit={submit}
      needs="axons.update"
      submitLabel="Save metadata"
      refusal={read.ok && changes.length === 0 ? 'no changes yet' : null}
      error={update.error}
    >
      <KeyValueEditor
        label="Metadata"
        addLabel="Add metadata"
        value={rows}
        onChange={setRows}
        keySuggestions={known.data?.keys}
        hint="Replaces all existing metadata."
        error={problem}
      />
      {read.ok ? (
        <MetadataChanges before={axon.metadata} after={read.map} />
      ) : (
        <p className="text-sm text-muted">{read.message}</p>
      )}
    </FormDialog>
  )
}
