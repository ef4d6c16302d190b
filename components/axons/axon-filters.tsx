'use client'
import { ListFilter, Search } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { ActiveFilters } from '#components/filters/active-filters.tsx'
import { FilterInput } from '#components/filters/filter-input.tsx'
import { MetadataFilterForm } from '#components/filters/metadata-filter-form.tsx'
import { Button } from '#components/ui/button.tsx'
import { conditionText, withCondition, withoutCondition } from '#lib/console/metadata-condition.ts'
import { paths } from '#lib/console/paths.ts'
import { type AxonListQuery, axonIdPattern, maxSearchLength } from '#lib/contract/axons.ts'

export interface AxonFiltersProps {
  query: AxonListQuery
  /** Keys seen in the rows; the service does not list them. */
  metadataKeys: readonly string[]
}

/** The filters of the list. The page's address is where they live. */
export const AxonFilters = ({ query, metadataKeys }: AxonFiltersProps) => {
  const router = useRouter()
  const [isAdding, setIsAdding] = useState(false)
  const href = (part: Partial<AxonListQuery>) => paths.axons({ ...query, starting_after: undefined, ...part })
  // Each keystroke is not a place to come back to, an added condition is.
  const type = (part: Partial<AxonListQuery>) => router.replace(href(part), { scroll: false })
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
          value={query.search ?? ''}
          onFilter={(text) => type({ search: text || undefined })}
        />
        <FilterInput
          label="Name starts with"
          className="min-w-0 flex-1 basis-40 sm:max-w-44"
          value={query.name ?? ''}
          onFilter={(text) => type({ name: text || undefined })}
        />
        <FilterInput
          mono
          label="Id"
          className="min-w-0 flex-1 basis-40 sm:max-w-56"
          value={query.id ?? ''}
          refusal={(text) => (axonIdPattern.test(text) ? null : 'An axon id reads axn_…')}
          onFilter={(text) => type({ id: text || undefined })}
        />
        <Button icon={ListFilter} aria-expanded={isAdding} onClick={() => setIsAdding(!isAdding)}>
          Metadata
        </Button>
      </div>
      {isAdding && (
        <MetadataFilterForm
          keySuggestions={metadataKeys}
          onAdd={(condition) => {
            router.push(href({ metadata: withCondition(query.metadata, condition) }), { scroll: false })
            setIsAdding(false)
          }}
        />
      )}
      <ActiveFilters filters={activeFilters(query)} clearHref={paths.axons({ limit: query.limit })} />
    </search>
  )
}

/** Each filter in words, with the address of the list without it. */
export const activeFilters = (query: AxonListQuery) => {
  const without = (part: Partial<AxonListQuery>) => paths.axons({ ...query, starting_after: undefined, ...part })
  const { search, name, id, metadata = [] } = query
  return [
    ...(search ? [{ text: `id or name contains ${search}`, hrefWithout: without({ search: undefined }) }] : []),
    ...(name ? [{ text: `name starts with ${name}`, hrefWithout: without({ name: undefined }) }] : []),
    ...(id ? [{ text: `id is ${id}`, hrefWithout: without({ id: undefined }) }] : []),
    ...metadata.map((condition) => ({
      text: conditionText(condition),
      hrefWithout: without({ metadata: withoutCondition(metadata, condition) }),
    })),
  ]
}
