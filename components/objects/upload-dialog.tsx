'use client'
import { useQuery } from '@tanstack/react-query'
import { useController } from 'react-hook-form'
import * as z from 'zod/mini'
import { FormRowsField, FormSelectField, FormTextField } from '#components/record/form-controls.tsx'
import { useRequestForm } from '#components/record/use-request-form.ts'
import { classes } from '#components/ui/classes.ts'
import { Field } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { controlClasses } from '#components/ui/input.tsx'
import { type KeyValueRow, rowsToMap } from '#components/ui/key-values.ts'
import { toast } from '#components/ui/toast.tsx'
import { formatBytes } from '#lib/browser/format.ts'
import { ObjectCreate, type StoredObject } from '#lib/contract/objects.ts'
import { type ObjectUpload, objectMutations, objectQueries } from './queries.ts'
import { contentTypeWords, guessContentType } from './state.tsx'

interface UploadValues {
  file: File | null
  name: string
  content_type: string
  hours: string
  metadata: KeyValueRow[]
}

const schema = z.extend(ObjectCreate, {
  file: z.custom<File>((value) => value !== null, 'Choose a file'),
})

const hourMs = 60 * 60 * 1000

const toRequest = (
  { file, name, content_type, hours, metadata }: UploadValues,
  fail: (field: keyof UploadValues, message: string) => void,
) => {
  const map = rowsToMap(metadata)
  if (!map.ok) fail('metadata', map.message)
  const isHours = /^\d+(\.\d+)?$/.test(hours.trim()) && Number(hours) > 0
  if (hours.trim() !== '' && !isHours) fail('hours', 'Enter a number above 0')
  return {
    file,
    // A missing file is enough to report.
    name: name.trim() || (file ? '' : 'unnamed'),
    content_type,
    metadata: map.ok ? map.map : {},
    ...(isHours && { ttl_ms: Math.max(1, Math.round(Number(hours) * hourMs)) }),
  }
}

const fieldOf = (path: string): keyof UploadValues | undefined => {
  if (path === 'ttl_ms') return 'hours'
  return (['file', 'name', 'content_type', 'metadata'] as const).find((name) => path.split('.')[0] === name)
}

/** Mount on open. */
export const UploadDialog = ({ onClose }: { onClose: () => void }) => {
  const { data: known } = useQuery({ ...objectQueries.metadataKeys(), retry: false })
  const { control, ...form } = useRequestForm<UploadValues, ObjectUpload, StoredObject>({
    toRequest,
    schema,
    fieldOf,
    defaults: { file: null, name: '', content_type: 'binary', hours: '', metadata: [] },
    mutation: objectMutations.upload(),
    onSaved: () => {
      onClose()
      toast.ok('Object uploaded')
    },
  })
  const file = useController({ control, name: 'file' })
  const name = useController({ control, name: 'name' })
  const type = useController({ control, name: 'content_type' })
  const choose = (chosen: File | null) => {
    file.field.onChange(chosen)
    if (!chosen) return
    name.field.onChange(chosen.name)
    type.field.onChange(guessContentType(chosen.name))
  }
  return (
    <FormDialog
      open
      onOpenChange={onClose}
      title="Upload object"
      description="Objects are files that can be mounted in devboxes. Their content can't be changed later."
      busy={form.busy}
      onSubmit={form.submit}
      needs="objects.create"
      submitLabel="Upload object"
      error={form.error}
    >
      <Field
        label="File"
        error={file.fieldState.error?.message}
        hint={file.field.value ? formatBytes(file.field.value.size) : undefined}
      >
        {(a11y) => (
          <input
            {...a11y}
            ref={file.field.ref}
            type="file"
            onChange={({ target }) => choose(target.files?.[0] ?? null)}
            className={classes(
              controlClasses,
              'px-2 py-1.5 file:mr-3 file:rounded-sm file:border-0 file:bg-surface-2 file:px-2 file:py-0.5 file:text-text',
            )}
          />
        )}
      </Field>
      <FormTextField control={control} name="name" label="Name" />
      <FormSelectField
        control={control}
        name="content_type"
        label="Type"
        hint="Archives are unpacked where they are mounted"
        options={Object.entries(contentTypeWords).map(([value, label]) => ({ value, label }))}
      />
      <FormTextField
        control={control}
        name="hours"
        label="Delete after (hours)"
        optional
        inputMode="decimal"
        hint="Never deleted automatically if empty"
      />
      <FormRowsField
        control={control}
        name="metadata"
        label="Metadata"
        addLabel="Add metadata"
        keySuggestions={known?.keys}
        hint="Labels to filter by, such as env=staging"
      />
    </FormDialog>
  )
}
