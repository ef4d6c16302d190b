'use client'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { devboxQueries } from '#components/devboxes/queries.ts'
import { snapshotQueries } from '#components/snapshots/queries.ts'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { TextField } from '#components/ui/field.tsx'
import { KeyValueEditor } from '#components/ui/key-value-editor.tsx'
import { resourceSizes } from '#lib/contract/launch-parameters.ts'
import type { DraftFieldsProps } from './devbox-draft.ts'

/** What the devbox begins with, and how large it is. */
export const SourceFields = ({ draft, edit, errorAt }: DraftFieldsProps) => {
  const { data: known } = useQuery(devboxQueries.metadataKeys())
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label="Begins with"
          value={draft.source}
          onPick={(picked) => edit({ source: picked })}
          options={sourceOptions}
        />
        <SelectField
          label="Size"
          error={errorAt('size')}
          value={draft.size}
          onPick={(picked) => edit({ size: picked })}
          options={sizeOptions}
        />
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
] as const

const sizeWords = (size: string) =>
  size
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/(^|x-)[a-z]/g, (part) => part.toUpperCase())

const sizeOptions = [
  { value: '', label: 'Default of the service' },
  ...resourceSizes.map((value) => ({ value, label: value === 'CUSTOM_SIZE' ? 'Custom' : sizeWords(value) })),
] as const

const offeredSnapshots = { limit: 100, include_total_count: false }

/** One of the latest snapshots, or any by its id. */
const SnapshotField = ({ draft, edit, errorAt }: DraftFieldsProps) => {
  const list = useInfiniteQuery(snapshotQueries.list(offeredSnapshots))
  const page = list.data?.pages[0]
  const ready = (page?.snapshots ?? []).filter(({ size_bytes }) => size_bytes != null)
  const isListed = draft.snapshot === '' || ready.some(({ id }) => id === draft.snapshot)
  return (
    <>
      <SelectField
        label="Snapshot"
        error={errorAt('snapshot')}
        hint={page?.has_more ? `The latest ${ready.length} are offered; there are more` : undefined}
        value={draft.snapshot}
        onPick={(picked) => edit({ snapshot: picked })}
        options={[
          { value: '', label: list.isPending ? 'Loading' : ready.length > 0 ? 'Choose one' : 'There are none' },
          ...(isListed ? [] : [{ value: draft.snapshot, label: draft.snapshot }]),
          ...ready.map(({ id, name }) => ({ value: id, label: name ? `${name} (${id})` : id })),
        ]}
      />
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
