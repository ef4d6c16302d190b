'use client'
import { Search } from 'lucide-react'
import { useId, useState } from 'react'
import { FilterBar, type FilterBarProps } from '#components/list/filter-bar.tsx'
import { FilterSelect } from '#components/list/filter-fields.tsx'
import type { HowToChange } from '#components/list/use-address.ts'
import { Input } from '#components/ui/input.tsx'
import { CreatedFilter } from './created-filter.tsx'
import { axonQueries } from './queries.ts'
import { type AxonSearchParams, axonsPath } from './search-params.ts'
import { type AxonSearch, readAxonSearch, writeAxonSearch } from './search-text.ts'

interface AxonFiltersProps {
  list: FilterBarProps['list'] & {
    params: AxonSearchParams
    filter: (part: Partial<AxonSearchParams>, how: HowToChange) => void
  }
}

export const AxonFilters = ({ list }: AxonFiltersProps) => (
  <FilterBar
    list={list}
    metadata={{ keys: axonQueries.metadataKeys(), values: (key) => axonQueries.metadataValues(key) }}
  >
    <SearchField list={list} />
    <FilterSelect
      label="State"
      any="Any state"
      value={list.params.state}
      words={{ active: 'Active', deleted: 'Deleted' }}
      onFilter={(state) => list.filter({ state }, 'push')}
    />
    <CreatedFilter value={list.params.created} onChange={(created) => list.filter({ created }, 'push')} />
  </FilterBar>
)

/** Searches name, ID and metadata in one field. Below it, each recognized part is a filter that can be removed. */
const SearchField = ({ list: { params, filter } }: AxonFiltersProps) => {
  const hintId = useId()
  const [typed, setTyped] = useState('')
  const parsed = readAxonSearch(typed)
  // A link or the back button may have changed the filters.
  const isCurrent = pathOf(parsed.filters) === pathOf(params)
  const hint = parsed.problem ?? (parsed.filters.metadata ? 'Use quotes to search names and IDs for this text' : '')
  return (
    <span className="w-full sm:w-96">
      <Input
        data-filter-input
        icon={Search}
        type="search"
        aria-label="Search name, ID or key:value"
        placeholder="Search name, ID or key:value"
        aria-describedby={hintId}
        value={isCurrent ? typed : writeAxonSearch(params)}
        onChange={({ target }) => {
          setTyped(target.value)
          const { search, name, id, metadata } = readAxonSearch(target.value).filters
          filter({ search, name, id, metadata }, 'type')
        }}
      />
      <span id={hintId} className="mt-0.5 block text-xs text-muted empty:hidden">
        {isCurrent && hint}
      </span>
    </span>
  )
}

const pathOf = ({ search, name, id, metadata }: AxonSearch) => axonsPath({ search, name, id, metadata })
