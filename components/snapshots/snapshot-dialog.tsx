'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Field, TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { Textarea } from '#components/ui/input.tsx'
import { KeyValueEditor } from '#components/ui/key-value-editor.tsx'
import { rowsToMap } from '#components/ui/key-values.ts'
import { snapshotMutations, snapshotQueries } from '#lib/console/queries/snapshots.ts'
import { maxCommitMessageLength, type Snapshot } from '#lib/contract/snapshots.ts'

type Subject = { devboxId: string; snapshot?: undefined } | { snapshot: Snapshot; devboxId?: undefined }

/** Takes a snapshot of a devbox, or changes what is written about one. Mount it when it opens. */
export const SnapshotDialog = ({ devboxId, snapshot, onClose }: Subject & { onClose: () => void }) => {
  const [name, setName] = useState(snapshot?.name ?? '')
  const [message, setMessage] = useState(snapshot?.commit_message ?? '')
  const [rows, setRows] = useState(Object.entries(snapshot?.metadata ?? {}).map(([key, value]) => ({ key, value })))
  const [rowsProblem, setRowsProblem] = useState<string | null>(null)
  const { data: known } = useQuery(snapshotQueries.metadataKeys())
  const create = useMutation(snapshotMutations.create())
  const update = useMutation(snapshotMutations.update())
  const { isPending, error } = snapshot ? update : create
  const tooLong = message.length > maxCommitMessageLength
  const submit = () => {
    const metadata = rowsToMap(rows)
    setRowsProblem(metadata.ok ? null : metadata.message)
    if (!metadata.ok || tooLong) return
    const fields = { name: name.trim(), commit_message: message, metadata: metadata.map }
    if (snapshot) update.mutate({ id: snapshot.id, ...fields }, { onSuccess: onClose })
    else create.mutate({ devboxId, ...fields }, { onSuccess: onClose })
  }
  const verb = snapshot ? 'Save changes' : 'Take snapshot'
  return (
    <FormDialog
      open
      onOpenChange={onClose}
      title={snapshot ? 'Edit snapshot' : 'Take snapshot'}
      description={
        snapshot
          ? undefined
          : 'A copy of the disk as it is now. The devbox goes on running; what it writes meanwhile may be half in the copy.'
      }
      busy={isPending}
      onSubmit={submit}
      submitLabel={verb}
      error={error}
    >
      <TextField label="Name" optional value={name} onText={setName} />
      <Field
        label="Commit message"
        optional
        hint={`${message.length} of ${maxCommitMessageLength} characters`}
        error={tooLong ? `Must be at most ${maxCommitMessageLength} characters; it has ${message.length}` : null}
      >
        {(control) => (
          <Textarea {...control} spellCheck value={message} onChange={({ target }) => setMessage(target.value)} />
        )}
      </Field>
      <KeyValueEditor
        label="Metadata"
        addLabel="Add metadata"
        value={rows}
        onChange={setRows}
        keySuggestions={known?.keys}
        hint={snapshot ? 'What stands here replaces all of it.' : 'To find it by later, such as version=1.4.'}
        error={rowsProblem}
      />
    </FormDialog>
  )
}
