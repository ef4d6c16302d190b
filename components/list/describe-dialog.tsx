'use client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Field, TextField } from '#components/ui/field.tsx'
import { FormDialog, type FormDialogProps } from '#components/ui/form-dialog.tsx'
import { Textarea } from '#components/ui/input.tsx'
import { KeyValueEditor } from '#components/ui/key-value-editor.tsx'
import { rowsToMap } from '#components/ui/key-values.ts'
import { type Described, EditConflictError, flattenDescription } from '#lib/browser/api/edit-conflict.ts'
import { ChangedMeanwhileNotice } from './changed-meanwhile-notice.tsx'
import type { ColumnDialogProps } from './column-dialog.tsx'
import { MetadataChanges } from './metadata-changes.tsx'

interface DescribeDialogProps extends Pick<FormDialogProps, 'title' | 'description' | 'submitLabel'> {
  /** What is described so until now; absent: it is made with the save. */
  saved?: Described | undefined
  /** Absent: it takes no message. */
  maxMessageLength?: number
  metadataKeys: NonNullable<ColumnDialogProps['metadataKeys']>
  /** The call that `onSave` makes. */
  saving: { isPending: boolean; error: Error | null; reset: () => void }
  /** `base` is what was known to be saved until now. */
  onSave: (mine: Mine, base: Described) => void
  onClose: () => void
}

interface Mine {
  name: string
  commit_message: string
  metadata: Record<string, string>
}

/** The name, the message and the metadata of a thing, with what a save would change. Mount it when it opens. */
export const DescribeDialog = ({
  saved,
  maxMessageLength,
  metadataKeys,
  saving,
  onSave,
  onClose,
  ...dialog
}: DescribeDialogProps) => {
  const [base, setBase] = useState<Described>(saved ?? { metadata: {} })
  const [name, setName] = useState(base.name ?? '')
  const [message, setMessage] = useState(base.commit_message ?? '')
  const [rows, setRows] = useState(rowsOf(base))
  const [rowsProblem, setRowsProblem] = useState<string | null>(null)
  const { data: known } = useQuery(metadataKeys)
  const meanwhile = saving.error instanceof EditConflictError ? saving.error.current : undefined
  const isTooLong = maxMessageLength !== undefined && message.length > maxMessageLength
  const metadata = rowsToMap(rows)
  const mine = metadata.ok && { name: name.trim(), commit_message: message, metadata: metadata.map }

  const save = (from: Described) => {
    setBase(from)
    setRowsProblem(metadata.ok ? null : metadata.message)
    if (mine && !isTooLong) onSave(mine, from)
  }
  const startFrom = (theirs: Described) => {
    setBase(theirs)
    setName(theirs.name ?? '')
    setMessage(theirs.commit_message ?? '')
    setRows(rowsOf(theirs))
    saving.reset()
  }
  return (
    <FormDialog
      {...dialog}
      open
      losesInput
      onOpenChange={onClose}
      busy={saving.isPending}
      onSubmit={() => save(base)}
      error={meanwhile ? null : saving.error}
    >
      <TextField label="Name" optional value={name} onText={setName} />
      {maxMessageLength !== undefined && (
        <Field
          label="Commit message"
          optional
          hint={`${message.length} of ${maxMessageLength} characters`}
          error={isTooLong ? `Must be at most ${maxMessageLength} characters; it has ${message.length}` : null}
        >
          {(control) => (
            <Textarea {...control} spellCheck value={message} onChange={({ target }) => setMessage(target.value)} />
          )}
        </Field>
      )}
      <KeyValueEditor
        label="Metadata"
        addLabel="Add metadata"
        value={rows}
        onChange={setRows}
        keySuggestions={known?.keys}
        hint={saved ? 'What stands here replaces all of it.' : 'To find it by later, such as version=1.4.'}
        error={rowsProblem}
      />
      {saved && mine && <MetadataChanges before={flattenDescription(base)} after={flattenDescription(mine)} />}
      {meanwhile && (
        <ChangedMeanwhileNotice
          base={base}
          now={meanwhile}
          onTakeTheirs={() => startFrom(meanwhile)}
          onSaveMine={() => save(meanwhile)}
        />
      )}
    </FormDialog>
  )
}

const rowsOf = ({ metadata }: Described) => Object.entries(metadata).map(([key, value]) => ({ key, value }))
