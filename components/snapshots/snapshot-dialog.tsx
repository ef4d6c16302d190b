'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ChangedMeanwhileNotice } from '#components/list/changed-meanwhile-notice.tsx'
import { MetadataChanges } from '#components/list/metadata-changes.tsx'
import { Field, TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { Textarea } from '#components/ui/input.tsx'
import { KeyValueEditor } from '#components/ui/key-value-editor.tsx'
import { rowsToMap } from '#components/ui/key-values.ts'
import { ChangedMeanwhile, type Described, descriptionOf } from '#lib/console/api/changed-meanwhile.ts'
import { snapshotMutations, snapshotQueries } from '#lib/console/queries/snapshots.ts'
import { maxCommitMessageLength, type Snapshot } from '#lib/contract/snapshots.ts'

type Subject = { devboxId: string; snapshot?: undefined } | { snapshot: Snapshot; devboxId?: undefined }
type SnapshotDialogProps = Subject & {
  onClose: () => void
  /** Of one that is being taken now. */
  onTaken?: (snapshot: Snapshot) => void
}

/** Takes a snapshot of a devbox, or changes what is written about one. Mount it when it opens. */
export const SnapshotDialog = ({ devboxId, snapshot, onClose, onTaken }: SnapshotDialogProps) => {
  const [base, setBase] = useState<Described>(snapshot ?? { metadata: {} })
  const [name, setName] = useState(base.name ?? '')
  const [message, setMessage] = useState(base.commit_message ?? '')
  const [rows, setRows] = useState(rowsOf(base))
  const [rowsProblem, setRowsProblem] = useState<string | null>(null)
  const { data: known } = useQuery(snapshotQueries.metadataKeys())
  const create = useMutation(snapshotMutations.create())
  const update = useMutation(snapshotMutations.update())
  const { isPending, error } = snapshot ? update : create
  const meanwhile = error instanceof ChangedMeanwhile ? error.now : undefined
  const tooLong = message.length > maxCommitMessageLength
  const metadata = rowsToMap(rows)
  const mine = { name: name.trim(), commit_message: message, metadata: metadata.ok ? metadata.map : {} }

  const save = (from: Described) => {
    setRowsProblem(metadata.ok ? null : metadata.message)
    if (!metadata.ok || tooLong) return
    if (snapshot) return update.mutate({ id: snapshot.id, base: from, ...mine }, { onSuccess: onClose })
    if (devboxId === undefined) return
    create.mutate(
      { devboxId, ...mine },
      {
        onSuccess: (taken) => {
          onTaken?.(taken)
          onClose()
        },
      },
    )
  }
  const startFrom = (theirs: Described) => {
    setBase(theirs)
    setName(theirs.name ?? '')
    setMessage(theirs.commit_message ?? '')
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
      title={snapshot ? 'Edit snapshot' : 'Take snapshot'}
      description={
        snapshot
          ? undefined
          : 'A copy of the disk as it is now. The devbox goes on running; what it writes meanwhile may be half in the copy.'
      }
      busy={isPending}
      onSubmit={() => save(base)}
      submitLabel={snapshot ? 'Save changes' : 'Take snapshot'}
      error={meanwhile ? null : error}
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
      {snapshot && metadata.ok && <MetadataChanges before={descriptionOf(base)} after={descriptionOf(mine)} />}
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
