'use client'
import { useQuery } from '@tanstack/react-query'
import { ListFilter, Search } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { ActiveFilters } from '#components/filters/active-filters.tsx'
import { FilterInput } from '#components/filters/filter-input.tsx'
import { MetadataFilterForm } from '#components/filters/metadata-filter-form.tsx'
import { Button } from '#components/ui/button.tsx'
import { Select } from '#components/ui/select.tsx'
import { conditionText, withCondition, withoutCondition } from '#lib/console/metadata-condition.ts'
import { paths } from '#lib/console/paths.ts'
import { devboxQueries } from '#lib/console/queries/devboxes.ts'
import { type DevboxListQuery, type DevboxStatus, devboxStatuses } from '#lib/contract/devboxes.ts'
import { devboxStatusWord } from './devbox-status.tsx'

/** The filters of the list. The page's address is where they live. */
export const DevboxFilters = ({ query }: { query: DevboxListQuery }) => {
  const router = useRouter()
  const [isAdding, setIsAdding] = useState(false)
  const { data: known } = useQuery({ ...devboxQueries.metadataKeys(), enabled: isAdding })
  const href = (part: Partial<DevboxListQuery>) => paths.devboxes({ ...query, starting_after: undefined, ...part })
  return (
    <search className="mb-3 space-y-2">
      <div className="flex flex-wrap items-start gap-2">
        <FilterInput
          data-filter-input
          icon={Search}
          type="search"
          label="Search id or name"
          className="w-full sm:w-60"
          maxLength={256}
          value={query.search ?? ''}
          onFilter={(text) => router.replace(href({ search: text || undefined }), { scroll: false })}
        />
        <Select
          aria-label="Status"
          className="w-40 max-sm:flex-1"
          value={query.status ?? ''}
          onChange={({ target }) =>
            router.push(href({ status: (target.value || undefined) as DevboxStatus | undefined }), { scroll: false })
          }
          options={[
            { value: '', label: 'Any status' },
            ...devboxStatuses.map((value) => ({ value, label: devboxStatusWord(value) })),
          ]}
        />
        <Button icon={ListFilter} aria-expanded={isAdding} onClick={() => setIsAdding(!isAdding)}>
          Metadata
        </Button>
      </div>
      {isAdding && (
        <MetadataFilterForm
          keySuggestions={known?.keys}
          onAdd={(condition) => {
            router.push(href({ metadata: withCondition(query.metadata, condition) }), { scroll: false })
            setIsAdding(false)
          }}
        />
      )}
      <ActiveFilters filters={activeFilters(query)} clearHref={paths.devboxes({ limit: query.limit })} />
    </search>
  )
}

/** Each filter in words, with the address of the list without it. */
export const activeFilters = (query: DevboxListQuery) => {
  const without = (part: Partial<DevboxListQuery>) => paths.devboxes({ ...query, starting_after: undefined, ...part })
  const { search, status, name, metadata = [] } = query
  return [
    ...(search ? [{ text: `id or name contains ${search}`, hrefWithout: without({ search: undefined }) }] : []),
    ...(status ? [{ text: `status is ${status}`, hrefWithout: without({ status: undefined }) }] : []),
    ...(name ? [{ text: `name contains ${name}`, hrefWithout: without({ name: undefined }) }] : []),
    ...metadata.map((condition) => ({
      text: conditionText(condition),
      hrefWithout: without({ metadata: withoutCondition(metadata, condition) }),
    })),
  ]
}
