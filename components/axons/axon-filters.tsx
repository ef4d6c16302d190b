'use client'
import { FilterBar, type FilterBarProps } from '#components/filters/filter-bar.tsx'
import { FilterInput } from '#components/filters/filter-input.tsx'
import { FilterSelect } from '#components/filters/filter-select.tsx'
import type { HowToChange } from '#components/list/use-address.ts'
import type { AxonView } from '#lib/console/address/axon-view.ts'
import { axonQueries } from '#lib/console/queries/axons.ts'
import { axonIdPattern } from '#lib/contract/axons.ts'
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
      search={{ value: view.search, onFilter: (search) => narrow({ search }, 'type') }}
      metadata={{ keys: axonQueries.metadataKeys(), values: (key) => axonQueries.metadataValues(key), seenKeys }}
    >
      <FilterInput
        label="Name starts with"
        className="min-w-0 flex-1 basis-36 sm:max-w-44"
        value={view.name}
        onFilter={(name) => narrow({ name }, 'type')}
      />
      <FilterInput
        mono
        label="Id"
        className="min-w-0 flex-1 basis-36 sm:max-w-48"
        value={view.id}
        refusal={(text) => (axonIdPattern.test(text) ? null : 'An axon id reads axn_…')}
        onFilter={(id) => narrow({ id }, 'type')}
      />
      <FilterSelect
        label="State"
        value={view.state}
        words={{ active: 'Active', deleted: 'Deleted' }}
        onFilter={(state) => narrow({ state }, 'push')}
      />
      <CreatedFilter value={view.created} onChange={(created) => narrow({ created }, 'push')} />
    </FilterBar>
  )
}
