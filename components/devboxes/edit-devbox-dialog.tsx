'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ChangedMeanwhileNotice } from '#components/list/changed-meanwhile-notice.tsx'
import { MetadataChanges } from '#components/list/metadata-changes.tsx'
import { TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { KeyValueEditor } from '#components/ui/key-value-editor.tsx'
import { rowsToMap } from '#components/ui/key-values.ts'
import { ChangedMeanwhile, type Described, descriptionOf } from '#lib/console/api/changed-meanwhile.ts'
import { devboxMutations, devboxQueries } from '#lib/console/queries/devboxes.ts'
import type { Devbox } from '#lib/contract/devboxes.ts'

/** Mount it when it opens: it starts from the devbox as it is then. */
export const EditDevboxDialog = ({ devbox, onClose }: { devbox: Devbox; onClose: () => void }) => {
  const [base, setBase] = useState<Described>({ name: devbox.name, metadata: devbox.metadata })
  const [name, setName] = useState(devbox.name ?? '')
  const [rows, setRows] = useState(rowsOf(base))
  const [problem, setProblem] = useState<string | null>(null)
  const { data: known } = useQuery(devboxQueries.metadataKeys())
  const update = useMutation(devboxMutations.update())
  const meanwhile = update.error instanceof ChangedMeanwhile ? update.error.now : undefined
  const metadata = rowsToMap(rows)
  const save = (from: Described) => {
    setProblem(metadata.ok ? null : metadata.message)
    if (!metadata.ok) return
    const change = { name: name.trim(), metadata: metadata.map }
    update.mutate({ id: devbox.id, base: from, change }, { onSuccess: onClose })
  }
  const startFrom = (theirs: Described) => {
    setBase(theirs)
    setName(theirs.name ?? '')
    setRows(rowsOf(theirs))
    update.reset()
  }
  const saveOver = (theirs: Described) => {
    setBase(theirs)
    save(theirs)
  }
  return (
    <FormDialog
      open
      onOpenChange={onClose}
      title="Edit devbox"
      busy={update.isPending}
      onSubmit={() => save(base)}
      submitLabel="Save changes"
      error={meanwhile ? null : update.error}
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
      {metadata.ok && (
        <MetadataChanges
          before={descriptionOf(base)}
          after={descriptionOf({ name: name.trim(), metadata: metadata.map })}
        />
      )}
      {meanwhile && (
        <ChangedMeanwhileNotice
          base={base}
          now={meanwhile}
          onTakeTheirs={() => startFrom(meanwhile)}
          onSaveMine={() => saveOver(meanwhile)}
        />
      )}
    </FormDialog>
  )
}

const rowsOf = ({ metadata }: Described) => Object.entries(metadata).map(([key, value]) => ({ key, value }))
