'use client'
import { useQuery } from '@tanstack/react-query'
import { Search } from 'lucide-react'
import Link from 'next/link'
import { useDeferredValue, useState } from 'react'
import { foundQuery, idIn, kindOfId } from '#components/layout/palette/found.ts'
import { Input } from '#components/ui/input.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'

/** What the address of a missing page may have meant: the thing whose id is in it, and a search for any other. */
export const FoundByAddress = () => {
  // No letter of an id is ever escaped.
  const [text, setText] = useState(() => idIn((location.pathname + location.search).replace(/%\w\w/g, ' ')) ?? '')
  const wanted = useDeferredValue(text.trim())
  const kind = kindOfId(wanted)
  const { data, error } = useQuery({ ...foundQuery(wanted), enabled: wanted !== '' })
  const things = wanted === '' ? [] : (data?.things ?? [])
  return (
    <search className="w-full max-w-96 space-y-2 text-left">
      <Input
        icon={Search}
        aria-label="Search by id or name"
        placeholder="Search by id or name"
        mono={kind !== undefined}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <ul aria-label="Found">
        {things.map((thing) => (
          <li key={`${thing.kind} ${thing.id}`}>
            <Link href={thing.href} className="flex min-h-8 items-center gap-2 rounded-md px-2 hover:bg-surface-2">
              <span className="min-w-0 truncate font-medium">
                <VisibleText max={80}>{thing.name}</VisibleText>
              </span>
              <span className="shrink-0 text-sm text-muted">{thing.kind}</span>
            </Link>
          </li>
        ))}
      </ul>
      <p role="status" className="text-sm text-muted">
        {wanted === ''
          ? 'Ctrl+K finds pages and actions as well.'
          : error
            ? problemOf(error).message
            : !data
              ? 'Searching …'
              : things.length > 0
                ? kind && `The id of a ${kind}.`
                : data.failed.length > 0
                  ? `Could not be searched: ${data.failed.join(', ')}.`
                  : kind
                    ? `This is the id of a ${kind}, and this account has none with it.`
                    : 'Nothing of this account has it in its name or as its id.'}
      </p>
    </search>
  )
}
