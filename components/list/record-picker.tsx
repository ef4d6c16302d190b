'use client'
import { type QueryKey, type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { Search, X } from 'lucide-react'
import { useDeferredValue, useId, useState } from 'react'
import { InlineError } from '#components/ui/error-state.tsx'
import { FieldError } from '#components/ui/field.tsx'
import { Input } from '#components/ui/input.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatShown } from '#lib/browser/format.ts'

export interface PickedRecord {
  id: string
  name: string
}

export interface PickerPage {
  rows: (PickedRecord & { detail: string })[]
  total: number | null
  hasMore?: boolean
}

export type PickerQuery = UseQueryOptions<PickerPage, Error, PickerPage, QueryKey>

interface RecordPickerProps {
  label: string
  many?: boolean
  /** Records that match a search. */
  query: (search: string) => PickerQuery
  chosen: readonly PickedRecord[]
  onChoose: (chosen: PickedRecord[]) => void
  error: string | undefined
  hint?: string
  /** Shown if there are no records at all. */
  none: string
}

export const RecordPicker = ({
  label,
  many = false,
  query,
  chosen,
  onChoose,
  error,
  hint,
  none,
}: RecordPickerProps) => {
  const id = useId()
  const [search, setSearch] = useState('')
  const { data, error: failure } = useQuery(query(useDeferredValue(search.trim())))
  const ids = new Set(chosen.map((each) => each.id))
  const choose = (row: PickedRecord, isOn: boolean) =>
    onChoose(
      many
        ? [...chosen.filter((each) => each.id !== row.id), ...(isOn ? [{ id: row.id, name: row.name }] : [])]
        : [{ id: row.id, name: row.name }],
    )
  // A search may hide the selected record.
  const hidden = !many && data && chosen.find((each) => !data.rows.some((row) => row.id === each.id))
  return (
    <fieldset className="min-w-0 space-y-2" aria-describedby={error ? `${id}-error` : undefined}>
      <legend className="mb-1 font-medium">{label}</legend>
      <Input
        type="search"
        icon={Search}
        aria-label={`Search ${label.toLowerCase()}`}
        placeholder="Search by name or ID"
        value={search}
        onChange={({ target }) => setSearch(target.value)}
      />
      {failure ? (
        <InlineError error={failure} />
      ) : (
        <div className="max-h-48 overflow-y-auto rounded-md border border-line py-1">
          {data?.rows.map((row) => (
            <label
              key={row.id}
              className="flex min-h-8 cursor-pointer items-center gap-2 px-2.5 py-1 hover:bg-surface-2 has-checked:bg-accent-soft"
            >
              <input
                type={many ? 'checkbox' : 'radio'}
                name={id}
                className="size-4 shrink-0 accent-accent"
                checked={ids.has(row.id)}
                onChange={({ target }) => choose(row, target.checked)}
              />
              <span className="min-w-0 flex-1 truncate">
                <VisibleText max={200}>{row.name}</VisibleText>
              </span>
              <span className="tabular shrink-0 text-sm text-muted">{row.detail}</span>
            </label>
          ))}
          {data?.rows.length === 0 && <p className="px-2.5 py-3 text-muted">{search ? 'No matches.' : none}</p>}
          {!data && <p className="px-2.5 py-3 text-muted">Loading…</p>}
        </div>
      )}
      <p role="status" className="tabular text-sm text-muted">
        {data && data.rows.length > 0 && formatShown(data.rows.length, data.hasMore ?? false, data.total)}
        {many && `${data && data.rows.length > 0 ? '; ' : ''}${formatCount(chosen.length)} chosen`}
      </p>
      {many && chosen.length > 0 && (
        <ul aria-label="Chosen" className="flex max-h-24 flex-wrap gap-1 overflow-y-auto">
          {chosen.map((each) => (
            <li key={each.id}>
              <button
                type="button"
                title={`Remove ${each.name}`}
                onClick={() => choose(each, false)}
                className="inline-flex h-6 max-w-56 items-center gap-1 rounded-sm bg-surface-2 px-1.5 text-sm hover:bg-surface-3"
              >
                <span className="sr-only">Remove </span>
                <span className="truncate">
                  <VisibleText max={80}>{each.name}</VisibleText>
                </span>
                <X aria-hidden className="size-3 shrink-0 text-muted" />
              </button>
            </li>
          ))}
        </ul>
      )}
      {hidden && (
        <p className="text-sm">
          Selected: <VisibleText max={200}>{hidden.name}</VisibleText>
        </p>
      )}
      {error && <FieldError id={`${id}-error`}>{error}</FieldError>}
      {hint && <p className="text-sm text-muted">{hint}</p>}
    </fieldset>
  )
}
