'use client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ActiveFilter } from '#components/filters/active-filters.tsx'
import { FilterBar } from '#components/filters/filter-bar.tsx'
import { FilterInput } from '#components/filters/filter-input.tsx'
import { Select } from '#components/ui/select.tsx'
import { type AxonView, axonViewPath } from '#lib/console/address/axon-view.ts'
import { conditionText, withCondition, withoutCondition } from '#lib/console/lists/metadata-condition.ts'
import { axonQueries } from '#lib/console/queries/axons.ts'
import { axonIdPattern, maxSearchLength } from '#lib/contract/axons.ts'
import { CreatedFilter } from './created-filter.tsx'

export type ChangeView = (part: Partial<AxonView>, how: 'type' | 'replace' | 'push') => void

export interface AxonFiltersProps {
  view: AxonView
  onChange: ChangeView
  /** Keys seen in the rows, for a service that does not list them. */
  seenKeys: () => readonly string[]
}

/** The filters of the list. The page's address is where they live. */
export const AxonFilters = ({ view, onChange, seenKeys }: AxonFiltersProps) => {
  const [key, setKey] = useState<string | null>(null)
  const keys = useQuery({ ...axonQueries.metadataKeys(), enabled: key !== null, retry: false })
  const values = useQuery({
    ...axonQueries.metadataValues(key ?? ''),
    enabled: key !== null && key !== '' && (keys.data?.keys.includes(key) ?? false),
    retry: false,
  })
  // Another list starts from its newest row.
  const type = (part: Partial<AxonView>) => onChange({ starting_after: undefined, ...part }, 'type')
  const { created, id, name, search, state, metadata } = view
  return (
    <FilterBar
      search={search ?? ''}
      maxSearchLength={maxSearchLength}
      pauseMs={0}
      onSearch={(text) => type({ search: text || undefined })}
      metadata={{
        keys: key === null ? [] : (keys.data?.keys ?? seenKeys()),
        values: values.data?.values,
        onKey: setKey,
        onAdd: (condition) =>
          onChange({ starting_after: undefined, metadata: withCondition(metadata, condition) }, 'push'),
      }}
      filters={activeFilters(view)}
      clearHref={withoutFilters(view)}
    >
      <FilterInput
        label="Name starts with"
        className="min-w-0 flex-1 basis-36 sm:max-w-44"
        value={name ?? ''}
        pauseMs={0}
        onFilter={(text) => type({ name: text || undefined })}
      />
      <FilterInput
        mono
        label="Id"
        className="min-w-0 flex-1 basis-36 sm:max-w-48"
        value={id ?? ''}
        refusal={(text) => (axonIdPattern.test(text) ? null : 'An axon id reads axn_…')}
        onFilter={(text) => type({ id: text || undefined })}
      />
      <Select
        aria-label="State"
        className="w-36 max-sm:flex-1 max-sm:basis-32"
        value={state ?? ''}
        onChange={({ target }) => onChange({ state: (target.value || undefined) as AxonView['state'] }, 'push')}
        options={[
          { value: '', label: 'Any state' },
          { value: 'active', label: 'Active' },
          { value: 'deleted', label: 'Deleted' },
        ]}
      />
      <CreatedFilter value={created} onChange={(next) => onChange({ created: next }, 'push')} />
    </FilterBar>
  )
}

/** The same list with its columns and its order, but of every axon. */
export const withoutFilters = ({ columns, sort, limit }: AxonView): string => axonViewPath({ columns, sort, limit })

/** Each filter in words, with the address of the list without it. */
export const activeFilters = (view: AxonView): ActiveFilter[] => {
  const without = (part: Partial<AxonView>) => axonViewPath({ ...view, starting_after: undefined, ...part })
  const { search, name, id, state, created, metadata = [] } = view
  return [
    ...(search ? [{ text: `id or name contains ${search}`, hrefWithout: without({ search: undefined }) }] : []),
    ...(name ? [{ text: `name starts with ${name}`, hrefWithout: without({ name: undefined }) }] : []),
    ...(id ? [{ text: `id is ${id}`, hrefWithout: without({ id: undefined }) }] : []),
    ...(state ? [{ text: `is ${state}`, hrefWithout: without({ state: undefined }) }] : []),
    ...(created ? [{ text: `created ${created} UTC`, hrefWithout: without({ created: undefined }) }] : []),
    ...metadata.map((condition) => ({
      text: conditionText(condition),
      hrefWithout: without({ metadata: withoutCondition(metadata, condition) }),
    })),
  ]
}
