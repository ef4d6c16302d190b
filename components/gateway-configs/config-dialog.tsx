'use client'
import { type MutationOptions, useQuery } from '@tanstack/react-query'
import { useWatch } from 'react-hook-form'
import type * as z from 'zod/mini'
import { jobPartQueries } from '#components/benchmarks/create/queries.ts'
import { FormRowsField, FormSelectField, FormTextareaField, FormTextField } from '#components/record/form-controls.tsx'
import { useRequestForm } from '#components/record/use-request-form.ts'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import type { KeyValueRow } from '#components/ui/key-values.ts'
import { toast } from '#components/ui/toast.tsx'
import type { Operation } from '#lib/protocol/roles.ts'
import { authWords } from './auth-text.ts'
import { type ConfigRecord, capitalized } from './config-record.ts'

interface ConfigValues {
  name: string
  description: string
  endpoint: string
  auth: string
  key: string
  secretHeaders: KeyValueRow[]
  valueHeaders: KeyValueRow[]
  tools: string
}

const headerRows = (config: ConfigRecord | undefined, part: 'secret' | 'value'): KeyValueRow[] =>
  (config?.custom_headers ?? []).flatMap((header) => {
    const value = header[part]
    return value == null ? [] : [{ key: header.name, value }]
  })

const valuesOf = (config: ConfigRecord | undefined): ConfigValues => ({
  name: config?.name ?? '',
  description: config?.description ?? '',
  endpoint: config?.endpoint ?? '',
  auth: config?.auth_mechanism.type ?? 'bearer',
  key: config?.auth_mechanism.key ?? '',
  secretHeaders: headerRows(config, 'secret'),
  valueHeaders: headerRows(config, 'value'),
  tools: (config?.allowed_tools ?? ['*']).join('\n'),
})

const filled = (rows: readonly KeyValueRow[]) => rows.filter(({ key, value }) => key.trim() !== '' || value !== '')

const toRequest = ({ auth, key, secretHeaders, valueHeaders, tools, ...values }: ConfigValues, hasTools: boolean) => ({
  name: values.name.trim(),
  description: values.description.trim(),
  endpoint: values.endpoint.trim(),
  auth_mechanism: { type: auth, ...(auth === 'header' && { key: key.trim() }) },
  custom_headers: [
    ...filled(secretHeaders).map((row) => ({ name: row.key.trim(), secret: row.value.trim() })),
    ...filled(valueHeaders).map((row) => ({ name: row.key.trim(), value: row.value })),
  ],
  ...(hasTools && { allowed_tools: tools.split(/\s+/).filter((tool) => tool !== '') }),
})

const fieldOf = (path: string): keyof ConfigValues | undefined => {
  const [first = ''] = path.split('.')
  if (first === 'auth_mechanism') return path.endsWith('.key') ? 'key' : 'auth'
  if (first === 'custom_headers') return path.endsWith('.value') ? 'valueHeaders' : 'secretHeaders'
  if (first === 'allowed_tools') return 'tools'
  return (['name', 'description', 'endpoint'] as const).find((name) => name === first)
}

interface ConfigDialogProps<Body> {
  noun: string
  needs: Operation
  description: string
  config: ConfigRecord | undefined
  hasTools: boolean
  schema: z.ZodMiniType<Body>
  // biome-ignore lint/suspicious/noExplicitAny: the result isn't used
  mutation: MutationOptions<any, Error, Body>
  onClose: () => void
}

/** Creates a gateway or an MCP server, or edits one. Mount on open. */
export const ConfigDialog = <Body,>({
  noun,
  needs,
  description,
  config,
  hasTools,
  schema,
  mutation,
  onClose,
}: ConfigDialogProps<Body>) => {
  const secrets = useQuery({ ...jobPartQueries.secretNames(), retry: false })
  const { control, ...form } = useRequestForm<ConfigValues, Body, unknown>({
    toRequest: (values) => toRequest(values, hasTools),
    schema,
    fieldOf,
    defaults: valuesOf(config),
    mutation,
    onSaved: () => {
      onClose()
      toast.ok(`${capitalized(noun)} ${config ? 'saved' : 'created'}`)
    },
  })
  const auth = useWatch({ control, name: 'auth' })
  return (
    <FormDialog
      open
      onOpenChange={onClose}
      title={config ? `Edit ${noun}` : `Create ${noun}`}
      description={description}
      losesInput
      busy={form.busy}
      onSubmit={form.submit}
      needs={needs}
      submitLabel={config ? 'Save changes' : `Create ${noun}`}
      error={form.error}
    >
      <FormTextField control={control} name="name" label="Name" />
      <FormTextField control={control} name="description" label="Description" optional />
      <FormTextField control={control} name="endpoint" label="URL" mono placeholder="https://api.example.com" />
      <div className="grid gap-4 sm:grid-cols-2">
        <FormSelectField
          control={control}
          name="auth"
          label="Authentication"
          options={Object.entries(authWords).map(([value, label]) => ({ value, label }))}
        />
        {auth === 'header' && (
          <FormTextField control={control} name="key" label="Header" mono placeholder="x-api-key" />
        )}
      </div>
      {hasTools && (
        <FormTextareaField
          control={control}
          name="tools"
          label="Allowed tools"
          mono
          hint="One pattern per line, such as * or github.search_*"
        />
      )}
      <FormRowsField
        control={control}
        name="secretHeaders"
        label="Headers from secrets"
        addLabel="Add header from a secret"
        keyPlaceholder="x-token"
        valuePlaceholder="secret name"
        valueSuggestions={secrets.data}
        hint="Sent with every request. Up to 8 headers."
      />
      <FormRowsField
        control={control}
        name="valueHeaders"
        label="Headers with a fixed value"
        addLabel="Add header"
        keyPlaceholder="x-team"
        hint="Anyone with access to the account can read these values."
      />
    </FormDialog>
  )
}
