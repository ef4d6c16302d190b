'use client'
import { ListFilter, Search, X } from 'lucide-react'
import Link from 'next/link'
import { type ReactNode, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { FilterInput } from './filter-fields.tsx'
import type { ActiveFilter, ListParams } from './list-source.ts'
import { withCondition } from './metadata-condition.ts'
import { MetadataFilter, type MetadataFilterProps } from './metadata-filter.tsx'

interface SearchParams extends ListParams {
  search?: string | undefined
  name?: string | undefined
}

export interface FilterBarProps {
  /** From `useListQuery`. */
  list: {
    params: SearchParams
    filter: (part: SearchParams, how: 'type' | 'push') => void
    filters: readonly ActiveFilter[]
    clearHref: string
    rows: readonly object[]
  }
  search?: string
  searchParam?: 'search' | 'name'
  children?: ReactNode
  metadata?: Pick<MetadataFilterProps, 'keys' | 'values'>
}

export const FilterBar = ({ list, search, searchParam = 'search', children, metadata }: FilterBarProps) => {
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
            value={list.params[searchParam]}
            onFilter={(text) => list.filter({ [searchParam]: text }, 'type')}
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
          rows={list.rows}
          onAdd={(condition) => {
            list.filter({ metadata: withCondition(list.params.metadata, condition) }, 'push')
            setIsAdding(false)
          }}
        />
      )}
      <ActiveFilters filters={list.filters} clearHref={list.clearHref} />
    </search>
  )
}

const ActiveFilters = ({ filters, clearHref }: { filters: readonly ActiveFilter[]; clearHref: string }) =>
  filters.length > 0 && (
    <ul aria-label="Active filters" className="flex flex-wrap items-center gap-1.5">
      {filters.map(({ text, hrefWithout }) => (
        <li key={text} className="flex max-w-full min-w-0">
          <Link
            href={hrefWithout}
            scroll={false}
            prefetch={false}
            aria-label={`Remove filter: ${text}`}
            className="inline-flex h-6 max-w-full min-w-0 items-center gap-1 rounded-sm border border-line-strong bg-accent-soft px-1.5 font-mono text-xs hover:bg-surface-3"
          >
            <VisibleText truncate max={120}>
              {text}
            </VisibleText>
            <X aria-hidden className="size-3 shrink-0" />
          </Link>
        </li>
      ))}
      <li>
        <Link
          href={clearHref}
          scroll={false}
          prefetch={false}
          className="rounded-sm px-1 text-sm text-muted hover:text-text"
        >
          Clear filters
        </Link>
      </li>
    </ul>
  )
