'use client'
import type { ReactNode } from 'react'
import { FilterInput } from '#components/filters/filter-input.tsx'
import { Check } from '#components/ui/choice/check.tsx'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { isAge, typedAge } from '#lib/browser/address/age.ts'
import { type DevboxListView, devboxSizes, statusesOf, writeStatuses } from '#lib/browser/address/devbox-list-view.ts'
import type { DevboxStatus } from '#lib/contract/devboxes.ts'
import { devboxStatusWords } from './status.tsx'

interface DevboxFiltersProps {
  view: DevboxListView
  narrow: (part: Partial<DevboxListView>, how: 'type' | 'push') => void
}

/** Everything that devboxes are narrowed by beside a search and metadata. */
export const DevboxFilters = ({ view, narrow }: DevboxFiltersProps) => {
  const statuses = statusesOf(view)
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
                narrow({ status: writeStatuses(isOn ? [...others, status] : others) }, 'push')
              }}
            />
          ))}
        </div>
      </fieldset>
      <Choice
        label="Origin"
        value={view.trials}
        words={originWords}
        onChoose={(trials) => narrow({ trials }, 'push')}
      />
      <Choice
        label="Made from"
        value={view.source}
        words={sourceWords}
        onChoose={(source) => narrow({ source }, 'push')}
      />
      <Choice label="Size" value={view.size} words={sizeWords} onChoose={(size) => narrow({ size }, 'push')} />
      <div className="grid grid-cols-2 gap-2">
        <Age label="Older than" value={view.older_than} onFilter={(older_than) => narrow({ older_than }, 'type')} />
        <Age
          label="Younger than"
          value={view.younger_than}
          onFilter={(younger_than) => narrow({ younger_than }, 'type')}
        />
      </div>
      <p className="text-sm text-muted">
        {
          'Ages read like 30min, 24h or 7d. The service answers a search, metadata and one status; all else narrows the devboxes that are loaded.'
        }
      </p>
    </>
  )
}

interface ChoiceProps<Value extends string> {
  label: string
  value: Value | undefined
  /** The word of each value; that of none is under the empty one. */
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
      onFilter={(text) => onFilter(text && typedAge(text))}
      refusal={(text) => (isAge(typedAge(text)) ? null : 'Like 30min, 24h or 7d')}
    />
  </div>
)

const originWords = { '': 'Own', shown: 'Own and of benchmark trials', only: 'Of benchmark trials only' } as const
const sourceWords = { '': 'Anything', blueprint: 'A blueprint', snapshot: 'A snapshot', none: 'Nothing' } as const
/** The sizes as the service calls them. */
const sizeWords = {
  '': 'Any',
  ...Object.fromEntries(devboxSizes.map((size) => [size, size])),
  default: 'Default of the service',
} as Record<(typeof devboxSizes)[number] | '', string>
