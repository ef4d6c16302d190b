'use client'
import { useQuery } from '@tanstack/react-query'
import { Search } from 'lucide-react'
import Link from 'next/link'
import { useDeferredValue, useState } from 'react'
import { idIn, kindOfId, recordSearch } from '#components/layout/palette/record-search.ts'
import { Input } from '#components/ui/input.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { useShortcutKeys } from '#lib/browser/frame/shortcuts.ts'

/** Searches for the id in a missing page's address, or for any other id or name. */
export const AddressSearch = () => {
  // Ids contain no escaped characters.
  const [text, setText] = useState(() => idIn((location.pathname + location.search).replace(/%\w\w/g, ' ')) ?? '')
  const paletteKeys = useShortcutKeys('palette.open').join('+')
  const wanted = useDeferredValue(text.trim())
  const kind = kindOfId(wanted)
  const { data, error } = useQuery({ ...recordSearch(wanted), enabled: wanted !== '' })
  const results = wanted === '' ? [] : (data?.results ?? [])
  return (
    <search className="w-full max-w-96 space-y-2 text-left">
      <Input
        icon={Search}
        aria-label="Search by name or ID"
        placeholder="Search by name or ID"
        mono={kind !== undefined}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <ul aria-label="Results">
        {results.map((result) => (
          <li key={`${result.kind} ${result.id}`}>
            <Link href={result.href} className="flex min-h-8 items-center gap-2 rounded-md px-2 hover:bg-surface-2">
              <span className="min-w-0 truncate font-medium">
                <VisibleText max={80}>{result.name}</VisibleText>
              </span>
              <span className="shrink-0 text-sm text-muted">{result.kind}</span>
            </Link>
          </li>
        ))}
      </ul>
      <p role="status" className="text-sm text-muted">
        {wanted === ''
          ? paletteKeys && `Press ${paletteKeys} to search pages and actions, too.`
          : error
            ? problemOf(error).message
            : !data
              ? 'Searching…'
              : results.length > 0
                ? kind && `ID of the ${kind} above`
                : data.failed.length > 0
                  ? `Search failed for: ${data.failed.join(', ')}`
                  : kind
                    ? `This account has no ${kind} with this ID.`
                    : 'No matches in this account.'}
      </p>
    </search>
  )
}
