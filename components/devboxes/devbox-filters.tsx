'use client'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { FilterBar } from '#components/filters/filter-bar.tsx'
import { Select } from '#components/ui/select.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { conditionText, withCondition, withoutCondition } from '#lib/console/lists/metadata-condition.ts'
import { devboxQueries } from '#lib/console/queries/devboxes.ts'
import { type DevboxListQuery, type DevboxStatus, devboxStatuses } from '#lib/contract/devboxes.ts'
import { devboxStatusWord } from './devbox-status.tsx'

/** The filters of the list. The page's address is where they live. */
export const DevboxFilters = ({ query }: { query: DevboxListQuery }) => {
  const router = useRouter()
  const [key, setKey] = useState<string | null>(null)
  const { data: known } = useQuery({ ...devboxQueries.metadataKeys(), enabled: key !== null })
  const href = (part: Partial<DevboxListQuery>) => paths.devboxes({ ...query, starting_after: undefined, ...part })
  return (
    <FilterBar
      search={query.search ?? ''}
      maxSearchLength={256}
      // Each keystroke is not a place to come back to, an added condition is.
      onSearch={(text) => router.replace(href({ search: text || undefined }), { scroll: false })}
      metadata={{
        keys: known?.keys,
        onKey: setKey,
        onAdd: (condition) =>
          router.push(href({ metadata: withCondition(query.metadata, condition) }), { scroll: false }),
      }}
      filters={activeFilters(query)}
      clearHref={paths.devboxes({ limit: query.limit })}
    >
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
    </FilterBar>
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
