'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { Field } from '#components/ui/field.tsx'
import { Input } from '#components/ui/input.tsx'
import { KeyValueEditor } from '#components/ui/key-value-editor.tsx'
import { rowsToMap } from '#components/ui/key-values.ts'
import { Textarea } from '#components/ui/textarea.tsx'
import { snapshotMutations, snapshotQueries } from '#lib/console/queries/snapshots.ts'
import { maxCommitMessageLength, type Snapshot } from '#lib/contract/snapshots.ts'

type Subject = { devboxId: string; snapshot?: undefined } | { snapshot: Snapshot; devboxId?: undefined }

/** Takes a snapshot of a devbox, or changes what is written about one. Mount it when it opens. */
export const SnapshotDialog = ({ devboxId, snapshot, onClose }: Subject & { onClose: () => void }) => {
  const formId = useId()
  const [name, setName] = useState(snapshot?.name ?? '')
  const [message, setMessage] = useState(snapshot?.commit_message ?? '')
  const [rows, setRows] = useState(Object.entries(snapshot?.metadata ?? {}).map(([key, value]) => ({ key, value })))
  const [rowsProblem, setRowsProblem] = useState<string | null>(null)
  const { data: known } = useQuery(snapshotQueries.metadataKeys())
  const create = useMutation(snapshotMutations.create())
  const update = useMutation(snapshotMutations.update())
  const { isPending, error } = snapshot ? update : create
  const tooLong = message.length > maxCommitMessageLength
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const metadata = rowsToMap(rows)
    setRowsProblem(metadata.ok ? null : metadata.message)
    if (!metadata.ok || tooLong || isPending) return
    const fields = { name: name.trim(), commit_message: message, metadata: metadata.map }
    if (snapshot) update.mutate({ id: snapshot.id, ...fields }, { onSuccess: onClose })
    else create.mutate({ devboxId, ...fields }, { onSuccess: onClose })
  }
  const verb = snapshot ? 'Save changes' : 'Take snapshot'
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={snapshot ? 'Edit snapshot' : 'Take snapshot'}
      description={
        snapshot
          ? undefined
          : 'A copy of the disk as it is now. The devbox goes on running; what it writes meanwhile may be half in the copy.'
      }
      busy={isPending}
      footer={
        <>
          <Button onClick={onClose} disabledReason={isPending ? 'work is under way' : null}>
            Cancel
          </Button>
          <Button type="submit" form={formId} variant="primary" busy={isPending}>
            {verb}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={submit} className="space-y-5">
        <Field label="Name" optional>
          {(control) => (
            <Input {...control} value={name} autoComplete="off" onChange={({ target }) => setName(target.value)} />
          )}
        </Field>
        <Field
          label="Commit message"
          optional
          hint={`${message.length} of ${maxCommitMessageLength} characters`}
          error={tooLong ? `Must be at most ${maxCommitMessageLength} characters; it has ${message.length}` : null}
        >
          {(control) => <Textarea {...control} value={message} onChange={({ target }) => setMessage(target.value)} />}
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
        {error && <InlineError error={error} />}
      </form>
    </Dialog>
  )
}
