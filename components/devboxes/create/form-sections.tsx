'use client'
import { useQuery } from '@tanstack/react-query'
import { Plus, Save, Trash2, X } from 'lucide-react'
import { useState } from 'react'
import { Controller, useController, useFormContext, useWatch } from 'react-hook-form'
import { jobPartQueries } from '#components/benchmarks/create/queries.ts'
import { BlueprintPicker } from '#components/blueprints/blueprint-picker.tsx'
import { blueprintQueries } from '#components/blueprints/queries.ts'
import { Button } from '#components/ui/button.tsx'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { FieldError, TextField } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Input, Textarea } from '#components/ui/input.tsx'
import { toast } from '#components/ui/toast.tsx'
import { isUnsupported } from '#lib/browser/api/failures.ts'
import { browserStore } from '#lib/browser/frame/saved-list.ts'
import type { DevboxCreate } from '#lib/contract/devboxes.ts'
import { resourceSizes, resourcesOf } from '#lib/contract/launch-parameters.ts'
import { tunnelModes } from '#lib/contract/tunnels.ts'
import { devboxQueries } from '../queries.ts'
import { tunnelModeLabels } from '../tunnel-modes.ts'
import { ChoiceField } from './choice-field.tsx'
import { choiceQueries } from './choice-queries.ts'
import { FieldGroup, FormRows, FormSelect, FormText, FormTextArea } from './form-fields.tsx'
import { type DevboxFormValues, type FileRow, formValuesOf, moreLaunchFields } from './form-schema.ts'
import { deleteTemplate, readTemplates, saveTemplate } from './templates.ts'

/** Source, size and metadata. */
export const SourceFields = () => {
  const source = useWatch<DevboxFormValues, 'source'>({ name: 'source' })
  const { data: known } = useQuery(devboxQueries.metadataKeys())
  const { error } = useQuery(blueprintQueries.choices(''))
  const hasBlueprints = !isUnsupported(error) || source === 'blueprint'
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <FormSelect
          name="source"
          label="Source"
          options={[
            { value: 'empty', label: 'Empty disk' },
            { value: 'snapshot', label: 'Snapshot' },
            ...(hasBlueprints ? [{ value: 'blueprint', label: 'Blueprint' } as const] : []),
          ]}
        />
        <SizeField />
      </div>
      {source === 'snapshot' && (
        <FormChoice name="snapshot" label="Snapshot" query={choiceQueries.snapshots} empty="Select a snapshot" />
      )}
      {source === 'blueprint' && (
        <Controller<DevboxFormValues, 'blueprint'>
          name="blueprint"
          render={({ field, fieldState }) => (
            <BlueprintPicker
              label="Blueprint"
              hint="Its launch parameters apply unless set here."
              value={field.value}
              onPick={field.onChange}
              error={fieldState.error?.message}
            />
          )}
        />
      )}
      <CustomSizeFields />
      <FormRows
        name="metadata"
        label="Metadata"
        addLabel="Add metadata"
        keySuggestions={known?.keys}
        hint="Labels to filter by, such as env=staging"
      />
    </>
  )
}

export const SizeField = () => <FormSelect name="size" label="Size" options={sizeOptions} />

export const CustomSizeFields = () => {
  const size = useWatch<DevboxFormValues, 'size'>({ name: 'size' })
  return (
    size === 'CUSTOM_SIZE' && (
      <div className="grid gap-4 sm:grid-cols-3">
        <FormText name="cpuCores" label="CPU cores" inputMode="decimal" hint="0.5, 1 or an even number" />
        <FormText name="memoryGb" label="Memory (GB)" inputMode="numeric" hint="2 to 8 per core" />
        <FormText name="diskGb" label="Disk (GB)" optional inputMode="numeric" hint="An even number" />
      </div>
    )
  )
}

const sizeLabel = (size: string) =>
  size
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/(^|x-)[a-z]/g, (part) => part.toUpperCase())

const sizeText = (size: (typeof resourceSizes)[number]) => {
  const { cpuCores, memoryGb, diskGb } = resourcesOf({ resource_size_request: size })
  return `${sizeLabel(size)}: ${cpuCores} CPU, ${memoryGb} GB memory, ${diskGb} GB disk`
}

const sizeOptions = [
  { value: '', label: 'Service default' },
  ...resourceSizes.map((value) => ({ value, label: value === 'CUSTOM_SIZE' ? 'Custom' : sizeText(value) })),
] as const

interface ChoiceProps {
  name: 'snapshot' | 'networkPolicy'
  label: string
  hint?: string
  empty: string
  query: Parameters<typeof ChoiceField>[0]['query']
}

const FormChoice = ({ name, ...props }: ChoiceProps) => {
  const { field, fieldState } = useController<DevboxFormValues, typeof name>({ name })
  return <ChoiceField {...props} value={field.value} onPick={field.onChange} error={fieldState.error?.message} />
}

export const EnvironmentFields = () => {
  const names = useQuery({ ...jobPartQueries.secretNames(), retry: false })
  return (
    <FieldGroup title="Environment and secrets" fields={['environment', 'secrets']}>
      <FormRows name="environment" label="Environment variables" addLabel="Add variable" keyPlaceholder="NAME" />
      <FormRows
        name="secrets"
        label="Secrets"
        addLabel="Add secret"
        keyPlaceholder="VARIABLE"
        valuePlaceholder="secret name"
        valueSuggestions={names.data}
        hint={`Environment variables set from secrets of the account${names.data ? ` (${names.data.length} available)` : ''}`}
      />
    </FieldGroup>
  )
}

export const StartFields = () => (
  <FieldGroup title="Commands and files" fields={['launchCommands', 'entrypoint', 'files']}>
    <LaunchCommandsField />
    <FormText
      name="entrypoint"
      label="Entrypoint"
      optional
      mono
      hint="Runs after the launch commands. The devbox shuts down when it exits."
    />
    <FileRows hint="Created under the home folder or /tmp before any command runs" />
  </FieldGroup>
)

export const LaunchCommandsField = () => (
  <FormTextArea
    name="launchCommands"
    label="Launch commands"
    hint="One per line. Run at every start."
    placeholder="npm install"
  />
)

/** Launch parameters without a field. */
const OtherLaunchParameters = () => {
  const { setValue } = useFormContext<DevboxFormValues>()
  const others = useWatch<DevboxFormValues, 'otherParameters'>({ name: 'otherParameters' })
  return (
    <OtherParameters
      title="Other launch parameters"
      parameters={others}
      onRemove={() => setValue('otherParameters', {})}
    />
  )
}

interface OtherParametersProps {
  title: string
  parameters: object
  onRemove: () => void
}

export const OtherParameters = ({ title, parameters, onRemove }: OtherParametersProps) =>
  Object.keys(parameters).length > 0 && (
    <div className="space-y-1">
      <p className="font-medium">{title}</p>
      <p className="font-mono text-sm break-all text-muted">{JSON.stringify(parameters)}</p>
      <Button size="sm" icon={X} onClick={onRemove}>
        Remove
      </Button>
    </div>
  )

export const FileRows = ({ hint }: { hint: string }) => {
  const { field, fieldState } = useController<DevboxFormValues, 'files'>({ name: 'files' })
  const files: FileRow[] = field.value
  const change = (at: number, part: Partial<FileRow>) =>
    field.onChange(files.map((file, index) => (index === at ? { ...file, ...part } : file)))
  return (
    <fieldset className="min-w-0 space-y-2">
      <legend className="mb-1 font-medium">Files</legend>
      {files.map((file, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows are edited in place and have no other identity
        <div key={at} className="space-y-1.5">
          <div className="flex items-center gap-1.5">
            <Input
              mono
              aria-label={`Path of file ${at + 1}`}
              placeholder="~/.npmrc"
              value={file.path}
              onChange={({ target }) => change(at, { path: target.value })}
            />
            <IconButton
              size="sm"
              icon={X}
              label={`Remove ${file.path || `file ${at + 1}`}`}
              onClick={() => field.onChange(files.filter((_, index) => index !== at))}
            />
          </div>
          <Textarea
            mono
            aria-label={`Text of file ${at + 1}`}
            value={file.content}
            onChange={({ target }) => change(at, { content: target.value })}
          />
        </div>
      ))}
      {fieldState.error && <FieldError>{fieldState.error.message}</FieldError>}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Button size="sm" icon={Plus} onClick={() => field.onChange([...files, { path: '', content: '' }])}>
          Add file
        </Button>
        <span className="text-sm text-muted">{hint}</span>
      </div>
    </fieldset>
  )
}

export const LifetimeFields = () => (
  <FieldGroup title="Lifetime" fields={['keepAlive', 'idle', 'idleSeconds']}>
    <KeepAliveFields />
  </FieldGroup>
)

export const KeepAliveFields = () => {
  const idle = useWatch<DevboxFormValues, 'idle'>({ name: 'idle' })
  return (
    <>
      <FormText
        name="keepAlive"
        label="Shut down after"
        optional
        hint="Such as 90m, 8h or 1d 12h, at most 48h. Deletes the disk. Default 1h; off when an idle policy is set"
        placeholder="1h"
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <FormSelect
          name="idle"
          label="When idle"
          options={[
            { value: '', label: 'Do nothing' },
            { value: 'suspend', label: 'Suspend (keeps the disk)' },
            { value: 'shutdown', label: 'Shut down (deletes the disk)' },
          ]}
        />
        {idle !== '' && <FormText name="idleSeconds" label="Idle time" hint="Such as 15m" placeholder="15m" />}
      </div>
    </>
  )
}

export const NetworkFields = () => (
  <FieldGroup title="Network" fields={['tunnel', 'networkPolicy']}>
    <FormSelect
      name="tunnel"
      label="Tunnel"
      hint="Exposes ports of the devbox on the service's network"
      options={[
        { value: '', label: 'None' },
        ...tunnelModes.map((value) => ({ value, label: tunnelModeLabels[value] })),
      ]}
    />
    <NetworkPolicyField />
  </FieldGroup>
)

export const NetworkPolicyField = () => (
  <FormChoice
    name="networkPolicy"
    label="Network policy"
    hint="Limits what the devbox can connect to"
    query={choiceQueries.networkPolicies}
    empty="None"
  />
)

/** The launch parameters that few devboxes need. */
export const MoreLaunchFields = ({ title = 'More' }: { title?: string }) => (
  <FieldGroup title={title} fields={moreLaunchFields}>
    <div className="grid gap-4 sm:grid-cols-2">
      <FormSelect
        name="architecture"
        label="Architecture"
        options={[
          { value: '', label: 'Service default' },
          { value: 'x86_64', label: 'x86_64' },
          { value: 'arm64', label: 'arm64' },
        ]}
      />
      <FormSelect
        name="tier"
        label="Provisioning tier"
        hint="Flex devboxes may wait in a queue."
        options={[
          { value: '', label: 'Service default' },
          { value: 'standard', label: 'Standard' },
          { value: 'flex', label: 'Flex' },
        ]}
      />
      <FormText name="username" label="User" optional mono placeholder="user" />
      <FormText name="uid" label="User ID" optional inputMode="numeric" placeholder="1000" />
    </div>
    <FormText
      name="ports"
      label="Ports"
      optional
      mono
      placeholder="8080, 3000"
      hint="Ports that its servers listen on"
    />
    <FormText
      name="services"
      label="Required services"
      optional
      mono
      placeholder="postgres"
      hint="Containers of the blueprint to start with it, by name"
    />
    <FormTextArea
      name="suspendCommands"
      label="Suspend commands"
      hint="One per line. Run before every suspension."
      placeholder="make stop"
    />
    <FormSelect
      name="resumeOn"
      label="Resume when suspended"
      options={[
        { value: '', label: 'Only through the API or console' },
        { value: 'http', label: 'On a request to its tunnel' },
        { value: 'axon_event', label: 'On an axon event' },
        { value: 'http axon_event', label: 'On a request to its tunnel or an axon event' },
      ]}
    />
    <OtherLaunchParameters />
  </FieldGroup>
)

/** Templates are stored in this browser. `body` is the request as entered, if valid. */
export const TemplateFields = ({ body }: { body: DevboxCreate | undefined }) => {
  const { reset } = useFormContext<DevboxFormValues>()
  const [templates, setTemplates] = useState(() => readTemplates(browserStore()))
  const [selected, setSelected] = useState('')
  const [name, setName] = useState('')
  const select = (name: string) => {
    setSelected(name)
    const template = templates.find((each) => each.name === name)
    if (template) reset(formValuesOf(template.body))
  }
  const save = () => {
    if (!body) return
    if (!saveTemplate(browserStore(), { name: name.trim(), body }))
      return void toast.danger("Couldn't save the template in this browser")
    setTemplates(readTemplates(browserStore()))
    setSelected(name.trim())
    setName('')
  }
  const remove = () => {
    deleteTemplate(browserStore(), selected)
    setTemplates(readTemplates(browserStore()))
    setSelected('')
  }
  return (
    <details className="rounded-md border border-line">
      <summary className="cursor-pointer px-3 py-2 font-medium">Templates ({templates.length})</summary>
      <div className="space-y-4 px-3 pt-1 pb-4">
        {templates.length > 0 && (
          <div className="flex flex-wrap items-end gap-2">
            <SelectField
              label="Load template"
              value={selected}
              onPick={select}
              options={[
                { value: '', label: 'Select a template' },
                ...templates.map((each) => ({ value: each.name, label: each.name })),
              ]}
            />
            {selected !== '' && <IconButton icon={Trash2} label={`Delete template ${selected}`} onClick={remove} />}
          </div>
        )}
        <div className="flex flex-wrap items-end gap-2">
          <TextField label="Template name" value={name} onText={setName} placeholder="node-service" />
          <Button
            icon={Save}
            disabledReason={name.trim() === '' ? 'enter a name' : body ? null : 'fix the errors first'}
            onClick={save}
          >
            Save template
          </Button>
        </div>
        <p className="text-sm text-muted">Saved in this browser, without the values of variables that look secret.</p>
      </div>
    </details>
  )
}
