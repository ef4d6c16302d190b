'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { Field, TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { Textarea } from '#components/ui/input.tsx'
import { KeyValueEditor } from '#components/ui/key-value-editor.tsx'
import { type KeyValueRow, rowsToMap } from '#components/ui/key-values.ts'
import { problemOf } from '#components/ui/problem.ts'
import { Select } from '#components/ui/select.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { devboxMutations, devboxQueries } from '#lib/console/queries/devboxes.ts'
import type { DevboxCreate } from '#lib/contract/devboxes.ts'
import { defaultKeepAliveSeconds, maxKeepAliveSeconds, resourceSizes } from '#lib/contract/launch-parameters.ts'
import type { Snapshot } from '#lib/contract/snapshots.ts'
import type { TunnelOptions } from '#lib/contract/tunnels.ts'

export interface CreateDevboxDialogProps {
  open: boolean
  onOpenChange: (open: boolean) => void
  /** Whose disk the devbox starts with. */
  snapshot?: Pick<Snapshot, 'id' | 'name'>
}

/** What was typed stays when the dialog is closed or the service refuses; a devbox that was created clears it. */
export const CreateDevboxDialog = ({ open, onOpenChange, snapshot }: CreateDevboxDialogProps) => {
  const router = useRouter()
  const [draft, setDraft] = useState(emptyDraft)
  const [problems, setProblems] = useState<Problems>({})
  const create = useMutation(devboxMutations.create())
  const { data: known } = useQuery({ ...devboxQueries.metadataKeys(), enabled: open })
  const refused = create.error ? fieldOf(create.error) : undefined
  const errorAt = (field: FormField) => problems[field] ?? (refused === field ? problemOf(create.error).message : null)

  const edit = (part: Partial<Draft>) => setDraft({ ...draft, ...part })
  const submit = () => {
    const read = readDraft(draft)
    setProblems(read.problems)
    if (!read.body) return
    create.mutate(snapshot ? { ...read.body, snapshot_id: snapshot.id } : read.body, {
      onSuccess: ({ id }) => {
        setDraft(emptyDraft)
        onOpenChange(false)
        router.push(paths.devbox(id))
      },
    })
  }

  return (
    <FormDialog
      open={open}
      onOpenChange={onOpenChange}
      title="Create devbox"
      description={
        snapshot ? (
          <>
            From snapshot <VisibleText max={80}>{snapshot.name || snapshot.id}</VisibleText>, with the disk as it was
            then.
          </>
        ) : (
          'An isolated machine with a disk and a shell. Every field may stay as it is.'
        )
      }
      busy={create.isPending}
      onSubmit={submit}
      submitLabel="Create devbox"
      error={refused === undefined ? create.error : null}
    >
      <TextField
        label="Name"
        optional
        error={errorAt('name')}
        value={draft.name}
        placeholder="web-worker"
        onText={(text) => edit({ name: text })}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Size" error={errorAt('size')}>
          {(control) => (
            <Select
              {...control}
              value={draft.size}
              onChange={({ target }) => edit({ size: target.value as Draft['size'] })}
              options={sizeOptions}
            />
          )}
        </Field>
        <TextField
          label="Keep-alive time in seconds"
          optional
          hint={`Shut down after this long; ${defaultKeepAliveSeconds} when empty`}
          error={errorAt('keepAlive')}
          inputMode="numeric"
          value={draft.keepAlive}
          placeholder={String(defaultKeepAliveSeconds)}
          onText={(text) => edit({ keepAlive: text })}
        />
      </div>
      <KeyValueEditor
        label="Metadata"
        addLabel="Add metadata"
        value={draft.metadata}
        onChange={(metadata) => edit({ metadata })}
        keySuggestions={known?.keys}
        hint="To find it by later, such as env=staging."
        error={errorAt('metadata')}
      />
      <KeyValueEditor
        label="Environment variables"
        addLabel="Add variable"
        keyPlaceholder="NAME"
        value={draft.environment}
        onChange={(environment) => edit({ environment })}
        error={errorAt('environment')}
      />
      <Field
        label="Launch commands"
        optional
        hint="One per line, run in the devbox at every start"
        error={errorAt('launchCommands')}
      >
        {(control) => (
          <Textarea
            {...control}
            mono
            value={draft.launchCommands}
            placeholder="npm install"
            onChange={({ target }) => edit({ launchCommands: target.value })}
          />
        )}
      </Field>
      <Field label="Tunnel" hint="Opens ports of the devbox to the network of the service" error={errorAt('tunnel')}>
        {(control) => (
          <Select
            {...control}
            value={draft.tunnel}
            onChange={({ target }) => edit({ tunnel: target.value as Draft['tunnel'] })}
            options={tunnelOptions}
          />
        )}
      </Field>
    </FormDialog>
  )
}

interface Draft {
  name: string
  size: '' | (typeof resourceSizes)[number]
  keepAlive: string
  metadata: KeyValueRow[]
  environment: KeyValueRow[]
  launchCommands: string
  tunnel: '' | NonNullable<TunnelOptions['auth_mode']>
}
type FormField = keyof Draft
type Problems = Partial<Record<FormField, string>>

const emptyDraft: Draft = {
  name: '',
  size: '',
  keepAlive: '',
  metadata: [],
  environment: [],
  launchCommands: '',
  tunnel: '',
}

const sizeOptions = [
  { value: '', label: 'Default of the service' },
  // A custom size needs numbers that this form does not ask for.
  ...resourceSizes
    .filter((size) => size !== 'CUSTOM_SIZE')
    .map((value) => ({
      value,
      label: value
        .toLowerCase()
        .replaceAll('_', '-')
        .replace(/(^|x-)[a-z]/g, (part) => part.toUpperCase()),
    })),
]
const tunnelOptions = [
  { value: '', label: 'None' },
  { value: 'open', label: 'Open to anyone who knows its address' },
  { value: 'authenticated', label: 'With a token' },
]

const readDraft = (draft: Draft): { problems: Problems; body?: DevboxCreate } => {
  const problems: Problems = {}
  const metadata = rowsToMap(draft.metadata)
  if (!metadata.ok) problems.metadata = metadata.message
  const environment = rowsToMap(draft.environment)
  if (!environment.ok) problems.environment = environment.message
  const keepAlive = draft.keepAlive.trim()
  const seconds = Number(keepAlive)
  if (keepAlive !== '' && !(/^\d+$/.test(keepAlive) && seconds >= 1 && seconds <= maxKeepAliveSeconds))
    problems.keepAlive = `Must be a whole number from 1 to ${maxKeepAliveSeconds} (48 hours)`
  if (!metadata.ok || !environment.ok || problems.keepAlive) return { problems }
  const launchCommands = draft.launchCommands.split('\n').filter((line) => line.trim() !== '')
  const launchParameters = {
    ...(draft.size && { resource_size_request: draft.size }),
    ...(keepAlive !== '' && { keep_alive_time_seconds: seconds }),
    ...(launchCommands.length > 0 && { launch_commands: launchCommands }),
  }
  const body: DevboxCreate = {
    ...(draft.name.trim() && { name: draft.name.trim() }),
    ...(Object.keys(metadata.map).length > 0 && { metadata: metadata.map }),
    ...(Object.keys(environment.map).length > 0 && { environment_variables: environment.map }),
    ...(Object.keys(launchParameters).length > 0 && { launch_parameters: launchParameters }),
    ...(draft.tunnel && { tunnel: { auth_mode: draft.tunnel } }),
  }
  return { problems, body }
}

/** The field of the form that a refusal is about, by the path in the request that the service names. */
const fieldOf = (error: unknown): FormField | undefined => {
  const path = problemOf(error).field ?? ''
  return (Object.keys(wireFields) as FormField[]).find((field) => {
    const wire = wireFields[field]
    return path === wire || path.startsWith(`${wire}.`)
  })
}

const wireFields: Record<FormField, string> = {
  name: 'name',
  size: 'launch_parameters.resource_size_request',
  keepAlive: 'launch_parameters.keep_alive_time_seconds',
  metadata: 'metadata',
  environment: 'environment_variables',
  launchCommands: 'launch_parameters.launch_commands',
  tunnel: 'tunnel',
}
