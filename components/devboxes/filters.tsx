'use client'
import type { ReactNode } from 'react'
import { FilterInput } from '#components/list/filter-fields.tsx'
import { Check } from '#components/ui/choice/check.tsx'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import type { ClusterNode } from '#lib/contract/cluster.ts'
import type { DevboxStatus } from '#lib/contract/devboxes.ts'
import { isAge, normalizeAge } from './age.ts'
import { type DevboxSearchParams, devboxSizes, formatStatuses, parseStatuses } from './search-params.ts'
import { devboxStatusWords } from './status.tsx'

interface DevboxFiltersProps {
  params: DevboxSearchParams
  nodes: readonly Pick<ClusterNode, 'id' | 'hostname'>[]
  filter: (part: Partial<DevboxSearchParams>, how: 'type' | 'push') => void
}

export const DevboxFilters = ({ params, nodes, filter }: DevboxFiltersProps) => {
  const statuses = parseStatuses(params)
  return (
    <>
      <fieldset>
        <legend className="font-medium">Status</legend>
        <div className="grid grid-cols-2 gap-x-2">
          {(Object.entries(devboxStatusWords) as [DevboxStatus, string][]).map(([status, word]) => (
            <Check
              key={status}
              label={word}
              checked={statuses.includes(status)}
              onCheck={(isOn) => {
                const others = statuses.filter((each) => each !== status)
                filter({ status: formatStatuses(isOn ? [...others, status] : others) }, 'push')
              }}
            />
          ))}
        </div>
      </fieldset>
      <Choice
        label="Origin"
        value={params.trials}
        words={originWords}
        onChoose={(trials) => filter({ trials }, 'push')}
      />
      <Choice
        label="Created from"
        value={params.source}
        words={sourceWords}
        onChoose={(source) => filter({ source }, 'push')}
      />
      {(nodes.length > 0 || params.node) && (
        <SelectField
          label="Node"
          value={params.node ?? ''}
          onPick={(node) => filter({ node: node || undefined }, 'push')}
          options={nodeOptions(nodes, params.node)}
        />
      )}
      <Choice label="Size" value={params.size} words={sizeWords} onChoose={(size) => filter({ size }, 'push')} />
      <div className="grid grid-cols-2 gap-2">
        <Age label="Older than" value={params.older_than} onFilter={(older_than) => filter({ older_than }, 'type')} />
        <Age
          label="Younger than"
          value={params.younger_than}
          onFilter={(younger_than) => filter({ younger_than }, 'type')}
        />
      </div>
      <p className="text-sm text-muted">
        {`Enter ages like 30min, 24h or 7d. Filters other than search, metadata${nodes.length > 0 ? ', node' : ''} and a single status apply to loaded devboxes.`}
      </p>
    </>
  )
}

const nodeOptions = (nodes: DevboxFiltersProps['nodes'], chosen: string | undefined) => {
  const known = nodes.map(({ id, hostname }) => ({ value: chosen === id ? id : hostname, label: hostname }))
  const isKnown = chosen === undefined || known.some(({ value }) => value === chosen)
  return [{ value: '', label: 'Any' }, ...known, ...(isKnown ? [] : [{ value: chosen, label: chosen }])]
}

interface ChoiceProps<Value extends string> {
  label: string
  value: Value | undefined
  /** The empty key is the label of no filter. */
  words: Record<Value | '', string>
  onChoose: (value: Value | undefined) => void
}

const Choice = <Value extends string>({ label, value, words, onChoose }: ChoiceProps<Value>): ReactNode => (
  <SelectField
    label={label}
    value={value ?? ''}
    onPick={(picked) => onChoose((picked || undefined) as Value | undefined)}
    options={Object.entries<string>(words).map(([each, word]) => ({ value: each, label: word }))}
  />
)

interface AgeProps {
  label: string
  value: string | undefined
  onFilter: (age: string | undefined) => void
}

const Age = ({ label, value, onFilter }: AgeProps) => (
  <div>
    <p aria-hidden className="mb-1 font-medium">
      {label}
    </p>
    <FilterInput
      label={label}
      placeholder="Any age"
      value={value}
      onFilter={(text) => onFilter(text && normalizeAge(text))}
      refusal={(text) => (isAge(normalizeAge(text)) ? null : 'Use an age like 30min, 24h or 7d')}
    />
  </div>
)

const originWords = { '': 'Own', shown: 'Own and trial devboxes', only: 'Trial devboxes only' } as const
const sourceWords = { '': 'Anything', blueprint: 'A blueprint', snapshot: 'A snapshot', none: 'An empty disk' } as const
const sizeWords = {
  '': 'Any',
  ...Object.fromEntries(devboxSizes.map((size) => [size, size])),
  default: 'Service default',
} as Record<(typeof devboxSizes)[number] | '', string>
