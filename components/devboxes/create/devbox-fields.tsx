'use client'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Plus, X } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Field, TextField } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Input, Textarea } from '#components/ui/input.tsx'
import { KeyValueEditor } from '#components/ui/key-value-editor.tsx'
import { Select } from '#components/ui/select.tsx'
import { networkPolicyQueries } from '#lib/console/queries/devbox/network-policies.ts'
import { devboxQueries } from '#lib/console/queries/devboxes.ts'
import { jobPartQueries } from '#lib/console/queries/job-parts.ts'
import { snapshotQueries } from '#lib/console/queries/snapshots.ts'
import { defaultKeepAliveSeconds, resourceSizes } from '#lib/contract/launch-parameters.ts'
import { tunnelModes } from '#lib/contract/tunnels.ts'
import { tunnelModeWords } from '../tunnel-words.ts'
import type { DevboxDraft } from './devbox-draft.ts'

interface DraftFieldsProps {
  draft: DevboxDraft
  edit: (part: Partial<DevboxDraft>) => void
  errorAt: (field: keyof DevboxDraft) => string | null
}

/** Fields under a title, closed while they are as they come; a problem in one of them opens it. */
const Group = ({ title, filled, hasError, children }: GroupProps) => {
  const [isOpen, setIsOpen] = useState(filled)
  useEffect(() => {
    if (hasError) setIsOpen(true)
  }, [hasError])
  return (
    <details
      open={isOpen}
      onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
      className="rounded-md border border-line"
    >
      <summary className="cursor-pointer px-3 py-2 font-medium">{title}</summary>
      <div className="space-y-5 px-3 pt-1 pb-4">{children}</div>
    </details>
  )
}

interface GroupProps {
  title: string
  filled: boolean
  hasError: boolean
  children: ReactNode
}

/** What the devbox begins with, and how large it is. */
export const SourceFields = ({ draft, edit, errorAt }: DraftFieldsProps) => {
  const { data: known } = useQuery(devboxQueries.metadataKeys())
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Begins with">
          {(control) => (
            <Select
              {...control}
              value={draft.source}
              onChange={({ target }) => edit({ source: target.value as DevboxDraft['source'] })}
              options={sourceOptions}
            />
          )}
        </Field>
        <Field label="Size" error={errorAt('size')}>
          {(control) => (
            <Select
              {...control}
              value={draft.size}
              onChange={({ target }) => edit({ size: target.value as DevboxDraft['size'] })}
              options={sizeOptions}
            />
          )}
        </Field>
      </div>
      {draft.source === 'snapshot' && <SnapshotField draft={draft} edit={edit} errorAt={errorAt} />}
      {draft.source === 'blueprint' && (
        <TextField
          label="Blueprint"
          mono
          hint="Its id or its name. A local service has none."
          error={errorAt('blueprint')}
          value={draft.blueprint}
          onText={(blueprint) => edit({ blueprint })}
        />
      )}
      {draft.size === 'CUSTOM_SIZE' && (
        <div className="grid gap-4 sm:grid-cols-3">
          <TextField
            label="CPU cores"
            inputMode="decimal"
            hint="0.5, 1 or an even number"
            error={errorAt('cpuCores')}
            value={draft.cpuCores}
            onText={(cpuCores) => edit({ cpuCores })}
          />
          <TextField
            label="Memory in GB"
            inputMode="numeric"
            hint="2 to 8 for each core"
            error={errorAt('memoryGb')}
            value={draft.memoryGb}
            onText={(memoryGb) => edit({ memoryGb })}
          />
          <TextField
            label="Disk in GB"
            optional
            inputMode="numeric"
            hint="An even number"
            error={errorAt('diskGb')}
            value={draft.diskGb}
            onText={(diskGb) => edit({ diskGb })}
          />
        </div>
      )}
      <KeyValueEditor
        label="Metadata"
        addLabel="Add metadata"
        value={draft.metadata}
        onChange={(metadata) => edit({ metadata })}
        keySuggestions={known?.keys}
        hint="To find it by later, such as env=staging."
        error={errorAt('metadata')}
      />
    </>
  )
}

const sourceOptions = [
  { value: 'empty', label: 'An empty disk' },
  { value: 'snapshot', label: 'A snapshot' },
  { value: 'blueprint', label: 'A blueprint (image)' },
]

const sizeWords = (size: string) =>
  size
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/(^|x-)[a-z]/g, (part) => part.toUpperCase())

const sizeOptions = [
  { value: '', label: 'Default of the service' },
  ...resourceSizes.map((value) => ({ value, label: value === 'CUSTOM_SIZE' ? 'Custom' : sizeWords(value) })),
]

const offeredSnapshots = { limit: 100, include_total_count: false }

/** One of the latest snapshots, or any by its id. */
const SnapshotField = ({ draft, edit, errorAt }: DraftFieldsProps) => {
  const list = useInfiniteQuery(snapshotQueries.list(offeredSnapshots))
  const page = list.data?.pages[0]
  const ready = (page?.snapshots ?? []).filter(({ size_bytes }) => size_bytes != null)
  const isListed = draft.snapshot === '' || ready.some(({ id }) => id === draft.snapshot)
  return (
    <>
      <Field
        label="Snapshot"
        error={errorAt('snapshot')}
        hint={page?.has_more ? `The latest ${ready.length} are offered; there are more` : undefined}
      >
        {(control) => (
          <Select
            {...control}
            value={draft.snapshot}
            onChange={({ target }) => edit({ snapshot: target.value })}
            options={[
              { value: '', label: list.isPending ? 'Loading' : ready.length > 0 ? 'Choose one' : 'There are none' },
              ...(isListed ? [] : [{ value: draft.snapshot, label: draft.snapshot }]),
              ...ready.map(({ id, name }) => ({ value: id, label: name ? `${name} (${id})` : id })),
            ]}
          />
        )}
      </Field>
      {page?.has_more && (
        <TextField
          label="Or the id of another"
          optional
          mono
          value={isListed ? '' : draft.snapshot}
          onText={(snapshot) => edit({ snapshot: snapshot.trim() })}
        />
      )}
    </>
  )
}

export const EnvironmentFields = ({ draft, edit, errorAt }: DraftFieldsProps) => {
  const names = useQuery({ ...jobPartQueries.secretNames(), retry: false })
  return (
    <Group
      title="Environment and secrets"
      filled={draft.environment.length > 0 || draft.secrets.length > 0}
      hasError={Boolean(errorAt('environment') || errorAt('secrets'))}
    >
      <KeyValueEditor
        label="Environment variables"
        addLabel="Add variable"
        keyPlaceholder="NAME"
        value={draft.environment}
        onChange={(environment) => edit({ environment })}
        error={errorAt('environment')}
      />
      <KeyValueEditor
        label="Secrets"
        addLabel="Add secret"
        keyPlaceholder="VARIABLE"
        valuePlaceholder="name of the secret"
        valueSuggestions={names.data}
        value={draft.secrets}
        onChange={(secrets) => edit({ secrets })}
        hint={
          names.data
            ? `A variable, and the secret of the account it holds: ${names.data.length} to choose from.`
            : 'A variable, and the secret of the account it holds.'
        }
        error={errorAt('secrets')}
      />
    </Group>
  )
}

export const StartFields = ({ draft, edit, errorAt }: DraftFieldsProps) => {
  const others = Object.entries(draft.otherParameters)
  return (
    <Group
      title="Commands and files"
      filled={Boolean(draft.launchCommands || draft.entrypoint || draft.files.length > 0 || others.length > 0)}
      hasError={Boolean(errorAt('launchCommands') || errorAt('entrypoint') || errorAt('files'))}
    >
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
      <TextField
        label="Entrypoint"
        optional
        mono
        hint="Runs once the launch commands have; the devbox ends with it"
        error={errorAt('entrypoint')}
        value={draft.entrypoint}
        onText={(entrypoint) => edit({ entrypoint })}
      />
      <FileRows draft={draft} edit={edit} errorAt={errorAt} />
      {others.length > 0 && (
        <div className="space-y-1">
          <p className="font-medium">Other launch parameters</p>
          <p className="font-mono text-sm break-all text-muted">{JSON.stringify(draft.otherParameters)}</p>
          <Button size="sm" icon={X} onClick={() => edit({ otherParameters: {} })}>
            Leave these out
          </Button>
        </div>
      )}
    </Group>
  )
}

/** The files the devbox begins with. */
const FileRows = ({ draft: { files }, edit, errorAt }: DraftFieldsProps) => {
  const change = (at: number, part: Partial<DevboxDraft['files'][number]>) =>
    edit({ files: files.map((file, index) => (index === at ? { ...file, ...part } : file)) })
  const error = errorAt('files')
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
              onClick={() => edit({ files: files.filter((_, index) => index !== at) })}
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
      {error && (
        <p role="alert" className="text-sm text-danger">
          {error}
        </p>
      )}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Button size="sm" icon={Plus} onClick={() => edit({ files: [...files, { path: '', content: '' }] })}>
          Add file
        </Button>
        <span className="text-sm text-muted">Below the home folder or /tmp, there before any command runs.</span>
      </div>
    </fieldset>
  )
}

export const LifetimeFields = ({ draft, edit, errorAt }: DraftFieldsProps) => (
  <Group
    title="Lifetime"
    filled={draft.keepAlive !== '' || draft.idle !== ''}
    hasError={Boolean(errorAt('keepAlive') || errorAt('idleSeconds'))}
  >
    <TextField
      label="Keep-alive time in seconds"
      optional
      hint={`Shut down after this long, and the disk deleted; ${defaultKeepAliveSeconds} when empty, none beside an idle rule`}
      error={errorAt('keepAlive')}
      inputMode="numeric"
      value={draft.keepAlive}
      placeholder={String(defaultKeepAliveSeconds)}
      onText={(keepAlive) => edit({ keepAlive })}
    />
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label="When idle">
        {(control) => (
          <Select
            {...control}
            value={draft.idle}
            onChange={({ target }) => edit({ idle: target.value as DevboxDraft['idle'] })}
            options={idleOptions}
          />
        )}
      </Field>
      {draft.idle !== '' && (
        <TextField
          label="Idle for seconds"
          inputMode="numeric"
          placeholder="900"
          error={errorAt('idleSeconds')}
          value={draft.idleSeconds}
          onText={(idleSeconds) => edit({ idleSeconds })}
        />
      )}
    </div>
  </Group>
)

const idleOptions = [
  { value: '', label: 'Nothing happens' },
  { value: 'suspend', label: 'Suspend it: the disk stays' },
  { value: 'shutdown', label: 'Shut it down: the disk goes' },
]

export const NetworkFields = ({ draft, edit, errorAt }: DraftFieldsProps) => {
  const policies = useQuery({ ...networkPolicyQueries.offered(), retry: false })
  const offered = policies.data?.network_policies ?? []
  const isListed = draft.networkPolicy === '' || offered.some(({ id }) => id === draft.networkPolicy)
  return (
    <Group
      title="Network"
      filled={draft.tunnel !== '' || draft.networkPolicy !== ''}
      hasError={Boolean(errorAt('tunnel') || errorAt('networkPolicy'))}
    >
      <Field label="Tunnel" hint="Opens ports of the devbox to the network of the service" error={errorAt('tunnel')}>
        {(control) => (
          <Select
            {...control}
            value={draft.tunnel}
            onChange={({ target }) => edit({ tunnel: target.value as DevboxDraft['tunnel'] })}
            options={[
              { value: '', label: 'None' },
              ...tunnelModes.map((value) => ({ value, label: tunnelModeWords[value] })),
            ]}
          />
        )}
      </Field>
      {policies.isError ? (
        <TextField
          label="Network policy"
          optional
          mono
          hint="The policies could not be read; type the id of one"
          error={errorAt('networkPolicy')}
          value={draft.networkPolicy}
          onText={(networkPolicy) => edit({ networkPolicy })}
        />
      ) : (
        <Field label="Network policy" hint="What the devbox may reach" error={errorAt('networkPolicy')}>
          {(control) => (
            <Select
              {...control}
              value={draft.networkPolicy}
              onChange={({ target }) => edit({ networkPolicy: target.value })}
              options={[
                { value: '', label: offered.length > 0 ? 'None' : 'None: the account has no policy' },
                ...(isListed ? [] : [{ value: draft.networkPolicy, label: draft.networkPolicy }]),
                ...offered.map(({ id, name }) => ({ value: id, label: name })),
              ]}
            />
          )}
        </Field>
      )}
    </Group>
  )
}
