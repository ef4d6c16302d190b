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
import { devboxMutations, devboxQueries } from '#lib/console/queries/devboxes.ts'
import type { Devbox } from '#lib/contract/devboxes.ts'

/** Mount it when it opens: it starts from the devbox as it is then. */
export const EditDevboxDialog = ({ devbox, onClose }: { devbox: Devbox; onClose: () => void }) => {
  const formId = useId()
  const [name, setName] = useState(devbox.name ?? '')
  const [rows, setRows] = useState(Object.entries(devbox.metadata).map(([key, value]) => ({ key, value })))
  const [problem, setProblem] = useState<string | null>(null)
  const { data: known } = useQuery(devboxQueries.metadataKeys())
  const update = useMutation(devboxMutations.update())
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const metadata = rowsToMap(rows)
    setProblem(metadata.ok ? null : metadata.message)
    if (!metadata.ok || update.isPending) return
    update.mutate({ id: devbox.id, change: { name: name.trim(), metadata: metadata.map } }, { onSuccess: onClose })
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Edit devbox"
      busy={update.isPending}
      footer={
        <>
          <Button onClick={onClose} disabledReason={update.isPending ? 'work is under way' : null}>
            Cancel
          </Button>
          <Button type="submit" form={formId} variant="primary" busy={update.isPending}>
            Save changes
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
        <KeyValueEditor
          label="Metadata"
          addLabel="Add metadata"
          value={rows}
          onChange={setRows}
          keySuggestions={known?.keys}
          hint="What stands here replaces all of it."
          error={problem}
        />
        {update.error && <InlineError error={update.error} />}
      </form>
    </Dialog>
  )
}
