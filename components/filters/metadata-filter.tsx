'use client'
import { type QueryKey, skipToken, type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { MetadataCondition } from '#lib/contract/encode-query.ts'
import { MetadataFilterForm } from './metadata-filter-form.tsx'

type Listed<Words> = UseQueryOptions<Words, Error, Words, QueryKey>

export interface MetadataFilterProps {
  keys: Listed<{ keys: string[] }>
  /** The values a key has. */
  values?: (key: string) => Listed<{ key: string; values: string[] }>
  /** Keys seen in the rows, for a service that does not list them. */
  seenKeys?: () => readonly string[]
  onAdd: (condition: MetadataCondition) => void
}

export const MetadataFilter = ({ keys, values, seenKeys, onAdd }: MetadataFilterProps) => {
  const [key, setKey] = useState('')
  const known = useQuery({ ...keys, retry: false })
  const listed = useQuery({
    ...(values && known.data?.keys.includes(key) ? values(key) : { queryKey: ['metadata-values'], queryFn: skipToken }),
    retry: false,
  })
  return (
    <MetadataFilterForm
      keySuggestions={known.data?.keys ?? seenKeys?.()}
      valueSuggestions={listed.data?.values}
      onKey={setKey}
      onAdd={onAdd}
    />
  )
}
