'use client'
import { Search } from 'lucide-react'
import { useId, useState } from 'react'
import { FilterBar, type FilterBarProps } from '#components/filters/filter-bar.tsx'
import { FilterSelect } from '#components/filters/filter-select.tsx'
import type { HowToChange } from '#components/list/use-address.ts'
import { Input } from '#components/ui/input.tsx'
import { type AxonView, axonViewPath } from '#lib/browser/address/axon-view.ts'
import { type AxonSearch, readAxonSearch, writeAxonSearch } from '#lib/browser/lists/axon-search.ts'
import { axonQueries } from '#lib/browser/queries/axons.ts'
import { CreatedFilter } from './created-filter.tsx'

interface AxonFiltersProps {
  page: FilterBarProps['page'] & {
    view: AxonView
    narrow: (part: Partial<AxonView>, how: HowToChange) => void
  }
  /** Keys seen in the rows, for a service that does not list them. */
  seenKeys: () => readonly string[]
}

/** The filters of the list. The page's address is where they live. */
export const AxonFilters = ({ page, seenKeys }: AxonFiltersProps) => {
  const { view, narrow } = page
  return (
    <FilterBar
      page={page}
      metadata={{ keys: axonQueries.metadataKeys(), values: (key) => axonQueries.metadataValues(key), seenKeys }}
    >
      <SearchBox view={view} narrow={narrow} />
      <FilterSelect
        label="State"
        any="Any state"
        value={view.state}
        words={{ active: 'Active', deleted: 'Deleted' }}
        onFilter={(state) => narrow({ state }, 'push')}
      />
      <CreatedFilter value={view.created} onChange={(created) => narrow({ created }, 'push')} />
    </FilterBar>
  )
}

/** One box for name, id and metadata; what it understood stands below it, as filters that can be removed. */
const SearchBox = ({ view, narrow }: Pick<AxonFiltersProps['page'], 'view' | 'narrow'>) => {
  const hintId = useId()
  const [typed, setTyped] = useState('')
  const read = readAxonSearch(typed)
  // A filter that was changed by other means has the last word: a link, the back button.
  const isOwn = addressOf(read.filters) === addressOf(view)
  const hint = isOwn
    ? (read.problem ?? (read.filters.metadata ? 'In quotes, it is searched in names and ids' : ''))
    : ''
  return (
    <span className="w-full sm:w-96">
      <Input
        data-filter-input
        icon={Search}
        type="search"
        aria-label="Search name, id or key:value"
        placeholder="Search name, id or key:value"
        aria-describedby={hintId}
        value={isOwn ? typed : writeAxonSearch(view)}
        onChange={({ target }) => {
          setTyped(target.value)
          const { search, name, id, metadata } = readAxonSearch(target.value).filters
          narrow({ search, name, id, metadata }, 'type')
        }}
      />
      <span id={hintId} className="mt-0.5 block text-xs text-muted empty:hidden">
        {hint}
      </span>
    </span>
  )
}

const addressOf = ({ search, name, id, metadata }: AxonSearch) => axonViewPath({ search, name, id, metadata })
