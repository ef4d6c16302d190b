'use client'
import { ListFilter, Search } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import type { MetadataCondition } from '#lib/contract/query-string.ts'
import { type ActiveFilter, ActiveFilters } from './active-filters.tsx'
import { FilterInput } from './filter-input.tsx'
import { MetadataFilterForm } from './metadata-filter-form.tsx'

export interface FilterBarProps {
  search: string
  maxSearchLength: number
  onSearch: (text: string) => void
  /** 0: each keystroke filters. */
  pauseMs?: number
  /** Controls of this list alone, after the search. */
  children?: ReactNode
  metadata: {
    keys?: readonly string[]
    values?: readonly string[]
    /** The key whose values are wanted; null while nobody asks for any. */
    onKey: (key: string | null) => void
    onAdd: (condition: MetadataCondition) => void
  }
  filters: readonly ActiveFilter[]
  clearHref: string
}

/** What the filters of all lists have in common: a search, conditions on metadata, and what is in force. */
export const FilterBar = ({
  search,
  maxSearchLength,
  onSearch,
  pauseMs,
  children,
  metadata: { keys, values, onKey, onAdd },
  filters,
  clearHref,
}: FilterBarProps) => {
  const [isAdding, setIsAdding] = useState(false)
  const open = (next: boolean) => {
    setIsAdding(next)
    onKey(next ? '' : null)
  }
  return (
    <search className="mb-3 space-y-2">
      <div className="flex flex-wrap items-start gap-2">
        <FilterInput
          data-filter-input
          icon={Search}
          type="search"
          label="Search id or name"
          className="w-full sm:w-60"
          maxLength={maxSearchLength}
          value={search}
          pauseMs={pauseMs}
          onFilter={onSearch}
        />
        {children}
        <Button icon={ListFilter} aria-expanded={isAdding} onClick={() => open(!isAdding)}>
          Metadata
        </Button>
      </div>
      {isAdding && (
        <MetadataFilterForm
          keySuggestions={keys}
          valueSuggestions={values}
          onKey={onKey}
          onAdd={(condition) => {
            onAdd(condition)
            open(false)
          }}
        />
      )}
      <ActiveFilters filters={filters} clearHref={clearHref} />
    </search>
  )
}
