'use client'
import { useQuery } from '@tanstack/react-query'
import { ListFilter, Search, X } from 'lucide-react'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { type FormEvent, useEffect, useId, useRef, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Input } from '#components/ui/input.tsx'
import { Select } from '#components/ui/select.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/console/paths.ts'
import { devboxQueries } from '#lib/console/queries/devboxes.ts'
import { type DevboxListQuery, type DevboxStatus, devboxStatuses } from '#lib/contract/devboxes.ts'
import type { MetadataCondition } from '#lib/contract/query-string.ts'
import { devboxStatusWord } from './devbox-status.tsx'

const searchPauseMs = 250

/** The filters of the list; the page's address is their only home. */
export const DevboxFilters = ({ query }: { query: DevboxListQuery }) => {
  const router = useRouter()
  const [isAdding, setIsAdding] = useState(false)
  const change = (part: Partial<DevboxListQuery>) => paths.devboxes({ ...query, starting_after: undefined, ...part })
  const metadata = query.metadata ?? []
  return (
    <search className="mb-3 space-y-2">
      <div className="flex flex-wrap items-center gap-2">
        <SearchField
          value={query.search ?? ''}
          onSearch={(search) => router.replace(change({ search: search || undefined }), { scroll: false })}
        />
        <Select
          aria-label="Status"
          className="w-40"
          value={query.status ?? ''}
          onChange={({ target }) =>
            router.push(change({ status: (target.value || undefined) as DevboxStatus | undefined }), { scroll: false })
          }
          options={[
            { value: '', label: 'Any status' },
            ...devboxStatuses.map((value) => ({ value, label: devboxStatusWord(value) })),
          ]}
        />
        <Button icon={ListFilter} aria-expanded={isAdding} onClick={() => setIsAdding(!isAdding)}>
          Filter by metadata
        </Button>
      </div>
      {isAdding && (
        <MetadataConditionForm
          onAdd={(condition) => {
            router.push(change({ metadata: withCondition(metadata, condition) }), { scroll: false })
            setIsAdding(false)
          }}
        />
      )}
      {(metadata.length > 0 || query.name) && (
        <ul aria-label="Active filters" className="flex flex-wrap items-center gap-1.5">
          {query.name && <ActiveFilter text={`name contains ${query.name}`} href={change({ name: undefined })} />}
          {metadata.map((condition) => (
            <ActiveFilter
              key={`${condition.op} ${condition.key}`}
              text={conditionText(condition)}
              href={change({ metadata: without(metadata, condition) })}
            />
          ))}
        </ul>
      )}
    </search>
  )
}

export const conditionText = (condition: MetadataCondition): string =>
  condition.op === 'eq' ? `${condition.key}=${condition.value}` : `${condition.key} is ${condition.values.join(' or ')}`

const without = (metadata: readonly MetadataCondition[], condition: MetadataCondition) => {
  const rest = metadata.filter((each) => each !== condition)
  return rest.length > 0 ? rest : undefined
}

/** A key has one condition of each kind: a second one of the same kind replaces the first. */
export const withCondition = (metadata: readonly MetadataCondition[], condition: MetadataCondition) => [
  ...metadata.filter(({ key, op }) => key !== condition.key || op !== condition.op),
  condition,
]

const SearchField = ({ value, onSearch }: { value: string; onSearch: (text: string) => void }) => {
  const [text, setText] = useState(value)
  const [known, setKnown] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // The address changed by other means than this field: a link, the back button.
  if (value !== known) {
    setKnown(value)
    setText(value)
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  const search = (next: string) => {
    clearTimeout(timer.current)
    setKnown(next)
    onSearch(next)
  }
  return (
    <Input
      type="search"
      icon={Search}
      data-filter-input
      aria-label="Search by name or id"
      placeholder="Search by name or id"
      className="max-w-72"
      maxLength={256}
      value={text}
      onChange={({ target }) => {
        setText(target.value)
        clearTimeout(timer.current)
        timer.current = setTimeout(search, searchPauseMs, target.value)
      }}
      onKeyDown={({ key }) => key === 'Enter' && search(text)}
    />
  )
}

const MetadataConditionForm = ({ onAdd }: { onAdd: (condition: MetadataCondition) => void }) => {
  const listId = useId()
  const { data } = useQuery(devboxQueries.metadataKeys())
  const [key, setKey] = useState('')
  const [op, setOp] = useState<'eq' | 'in'>('eq')
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string>()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const values = text
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '')
    if (key === '' || key.includes('][')) setProblem('A filter needs a key, without "]["')
    else if (op === 'eq' ? text === '' : values.length === 0) setProblem('A filter needs a value')
    else onAdd(op === 'eq' ? { key, op, value: text } : { key, op, values })
  }
  return (
    <form
      onSubmit={submit}
      className="flex flex-wrap items-center gap-2 rounded-md border border-line bg-surface-1 p-2"
    >
      <datalist id={listId}>
        {data?.keys.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <Input
        mono
        autoFocus
        aria-label="Metadata key"
        placeholder="key"
        list={listId}
        autoComplete="off"
        spellCheck={false}
        className="max-w-44"
        value={key}
        onChange={({ target }) => setKey(target.value)}
      />
      <Select
        aria-label="Comparison"
        className="w-32"
        value={op}
        onChange={({ target }) => setOp(target.value === 'in' ? 'in' : 'eq')}
        options={[
          { value: 'eq', label: 'is' },
          { value: 'in', label: 'is any of' },
        ]}
      />
      <Input
        mono
        aria-label="Metadata value"
        placeholder={op === 'eq' ? 'value' : 'value, value, …'}
        autoComplete="off"
        spellCheck={false}
        className="max-w-60"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <Button type="submit" variant="primary">
        Add filter
      </Button>
      {problem && (
        <p role="alert" className="text-sm text-danger">
          {problem}
        </p>
      )}
    </form>
  )
}

const ActiveFilter = ({ text, href }: { text: string; href: string }) => (
  <li className="inline-flex max-w-full min-w-0">
    <Link
      href={href}
      scroll={false}
      aria-label={`Remove filter ${text}`}
      className="inline-flex h-6 max-w-full min-w-0 items-center gap-1 rounded-sm border border-line-strong bg-accent-soft px-1.5 font-mono text-xs hover:bg-surface-3"
    >
      <VisibleText truncate max={120}>
        {text}
      </VisibleText>
      <X aria-hidden className="size-3 shrink-0" />
    </Link>
  </li>
)
