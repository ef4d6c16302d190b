'use client'
import { ListFilter, Search } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
import type { ActiveFilter, ListView } from '#lib/browser/lists/list-source.ts'
import { withCondition } from '#lib/browser/lists/metadata-condition.ts'
import { ActiveFilters } from './active-filters.tsx'
import { FilterInput } from './filter-input.tsx'
import type { MetadataFilterProps } from './metadata-filter.tsx'

const MetadataFilter = loadOnUse(async () => (await import('./metadata-filter.tsx')).MetadataFilter)

interface SearchedView extends ListView {
  search?: string | undefined
  name?: string | undefined
}

export interface FilterBarProps {
  /** As `useListPage` made it. */
  page: {
    view: SearchedView
    narrow: (part: SearchedView, how: 'type' | 'push') => void
    filters: readonly ActiveFilter[]
    clearHref: string
  }
  /** What its search is called, and which part of the address it is. */
  search?: string
  searches?: 'search' | 'name'
  /** Controls of this list alone, after the search. */
  children?: ReactNode
  metadata?: Omit<MetadataFilterProps, 'onAdd'>
}

/** What the filters of all lists have in common: a search, conditions on metadata, and what is in force. */
export const FilterBar = ({ page, search, searches = 'search', children, metadata }: FilterBarProps) => {
  const [isAdding, setIsAdding] = useState(false)
  return (
    <search className="mb-3 block space-y-2">
      <div className="flex flex-wrap items-start gap-2">
        {search && (
          <FilterInput
            data-filter-input
            icon={Search}
            type="search"
            label={search}
            className="w-full sm:w-60"
            maxLength={256}
            value={page.view[searches]}
            onFilter={(text) => page.narrow({ [searches]: text }, 'type')}
          />
        )}
        {children}
        {metadata && (
          <Button icon={ListFilter} aria-expanded={isAdding} onClick={() => setIsAdding(!isAdding)}>
            Metadata
          </Button>
        )}
      </div>
      {isAdding && metadata && (
        <MetadataFilter
          {...metadata}
          onAdd={(condition) => {
            page.narrow({ metadata: withCondition(page.view.metadata, condition) }, 'push')
            setIsAdding(false)
          }}
        />
      )}
      <ActiveFilters filters={page.filters} clearHref={page.clearHref} />
    </search>
  )
}
