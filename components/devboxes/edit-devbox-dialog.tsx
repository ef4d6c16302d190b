'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { KeyValueEditor } from '#components/ui/key-value-editor.tsx'
import { rowsToMap } from '#components/ui/key-values.ts'
import { devboxMutations, devboxQueries } from '#lib/console/queries/devboxes.ts'
import type { Devbox } from '#lib/contract/devboxes.ts'

/** Mount it when it opens: it starts from the devbox as it is then. */
export const EditDevboxDialog = ({ devbox, onClose }: { devbox: Devbox; onClose: () => void }) => {
  const [name, setName] = useState(devbox.name ?? '')
  const [rows, setRows] = useState(Object.entries(devbox.metadata).map(([key, value]) => ({ key, value })))
  const [problem, setProblem] = useState<string | null>(null)
  const { data: known } = useQuery(devboxQueries.metadataKeys())
  const update = useMutation(devboxMutations.update())
  const submit = () => {
    const metadata = rowsToMap(rows)
    setProblem(metadata.ok ? null : metadata.message)
    if (!metadata.ok) return
    update.mutate({ id: devbox.id, change: { name: name.trim(), metadata: metadata.map } }, { onSuccess: onClose })
  }
  return (
    <FormDialog
      open
      onOpenChange={onClose}
      title="Edit devbox"
      busy={update.isPending}
      onSubmit={submit}
      submitLabel="Save changes"
      error={update.error}
    >
      <TextField label="Name" optional value={name} onText={setName} />
      <KeyValueEditor
        label="Metadata"
        addLabel="Add metadata"
        value={rows}
        onChange={setRows}
        keySuggestions={known?.keys}
        hint="What stands here replaces all of it."
        error={problem}
      />
    </FormDialog>
  )
}
