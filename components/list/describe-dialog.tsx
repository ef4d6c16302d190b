'use client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Field, TextField } from '#components/ui/field.tsx'
import { FormDialog, type FormDialogProps } from '#components/ui/form-dialog.tsx'
import { Textarea } from '#components/ui/input.tsx'
import { KeyValueEditor } from '#components/ui/key-value-editor.tsx'
import { rowsToMap } from '#components/ui/key-values.ts'
import { type Described, EditConflictError, flattenDescription } from '#lib/browser/api/edit-conflict.ts'
import { MetadataChanges } from './metadata-changes.tsx'
import type { MetadataKeys } from './metadata-filter.tsx'

interface DescribeDialogProps extends Pick<FormDialogProps, 'title' | 'description' | 'submitLabel' | 'needs'> {
  /** Absent if the form creates it. */
  saved?: Described | undefined
  maxMessageLength?: number
  metadataKeys: MetadataKeys
  saving: { isPending: boolean; error: Error | null; reset: () => void }
  /** `base` is what the form started from. */
  onSave: (mine: Mine, base: Described) => void
  onClose: () => void
}

interface Mine {
  name: string
  commit_message: string
  metadata: Record<string, string>
}

/** Edits a name, a message and metadata, and previews the changes. Mount it when it opens. */
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
  const conflict = saving.error instanceof EditConflictError ? saving.error.current : undefined
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
      error={conflict ? null : saving.error}
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
        hint={saved ? 'Replaces all existing metadata.' : 'For example version=1.4'}
        error={rowsProblem}
      />
      {saved && mine && <MetadataChanges before={flattenDescription(base)} after={flattenDescription(mine)} />}
      {conflict && (
        <Banner tone="attention" role="alert" title="Someone else saved changes; yours aren't saved yet">
          <div className="mt-2 space-y-3">
            <MetadataChanges
              title="Their changes"
              before={flattenDescription(base)}
              after={flattenDescription(conflict)}
            />
            <div className="flex flex-wrap gap-2">
              <Button size="sm" onClick={() => startFrom(conflict)}>
                Start from theirs
              </Button>
              <Button size="sm" onClick={() => save(conflict)}>
                Overwrite with mine
              </Button>
            </div>
          </div>
        </Banner>
      )}
    </FormDialog>
  )
}

const rowsOf = ({ metadata }: Described) => Object.entries(metadata).map(([key, value]) => ({ key, value }))
