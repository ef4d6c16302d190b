'use client'
import { type QueryKey, skipToken, type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { FieldError } from '#components/ui/field.tsx'
import { Input } from '#components/ui/input.tsx'
import { Select } from '#components/ui/select.tsx'
import { cutEnd } from '#components/ui/text.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { MetadataCondition } from '#lib/contract/encode-query.ts'
import { addValue, readCondition, valuesLike } from './metadata-condition.ts'

export type MetadataKeys = UseQueryOptions<{ keys: string[] }, Error, { keys: string[] }, QueryKey>

export interface MetadataFilterProps {
  keys: MetadataKeys
  values?: (
    key: string,
  ) => UseQueryOptions<{ key: string; values: string[] }, Error, { key: string; values: string[] }, QueryKey>
  /** Their keys are suggested if the service doesn't list keys. */
  rows: readonly object[]
  onAdd: (condition: MetadataCondition) => void
}

const maxSuggested = 12

export const MetadataFilter = ({ keys, values, rows, onAdd }: MetadataFilterProps) => {
  const [key, setKey] = useState('')
  const [op, setOp] = useState<MetadataCondition['op']>('eq')
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const known = useQuery({ ...keys, retry: false })
  const listed = useQuery({
    ...(values && known.data?.keys.includes(key) ? values(key) : { queryKey: ['metadata-values'], queryFn: skipToken }),
    retry: false,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const read = readCondition(key, op, text)
    if (read.ok) onAdd(read.condition)
    setProblem(read.ok ? null : read.message)
  }
  const suggested = valuesLike(listed.data?.values ?? [], op, text)
  return (
    <form
      onSubmit={submit}
      aria-label="Filter by metadata"
      className="space-y-2 rounded-md border border-line bg-surface-1 p-2"
    >
      <div className="flex flex-wrap items-center gap-2">
        <MetadataKeyInput
          autoFocus
          className="max-w-44"
          keys={known.data?.keys ?? metadataKeysOf(rows)}
          value={key}
          onChange={setKey}
        />
        <Select
          aria-label="Comparison"
          className="w-28"
          value={op}
          onChange={({ target }) => setOp(target.value === 'in' ? 'in' : 'eq')}
          options={[
            { value: 'eq', label: 'is' },
            { value: 'in', label: 'is any of' },
          ]}
        />
        <Input
          mono
          aria-label={op === 'eq' ? 'Metadata value' : 'Metadata values, separated by commas'}
          placeholder={op === 'eq' ? 'value' : 'value, value, …'}
          className="max-w-60"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <Button type="submit" variant="primary">
          Add filter
        </Button>
        {problem && <FieldError>{problem}</FieldError>}
      </div>
      {suggested.length > 0 && (
        <ul aria-label={`Values of ${cutEnd(key, 80)}`} className="flex flex-wrap items-center gap-1">
          {suggested.slice(0, maxSuggested).map((value) => (
            <li key={value} className="flex max-w-full min-w-0">
              <button
                type="button"
                onClick={() => setText(addValue(text, op, value))}
                className="inline-flex h-6 max-w-60 items-center rounded-sm border border-line bg-surface-0 px-1.5 font-mono text-xs hover:border-line-strong hover:bg-surface-2"
              >
                <VisibleText truncate max={80}>
                  {value}
                </VisibleText>
              </button>
            </li>
          ))}
          {suggested.length > maxSuggested && (
            <li className="tabular px-1 text-xs text-muted">
              {`${suggested.length - maxSuggested} more; type to narrow down`}
            </li>
          )}
        </ul>
      )}
    </form>
  )
}

interface MetadataKeyInputProps {
  keys: readonly string[]
  value: string
  onChange: (key: string) => void
  className?: string
  autoFocus?: boolean
}

export const MetadataKeyInput = ({ keys, value, onChange, ...rest }: MetadataKeyInputProps) => {
  const listId = useId()
  return (
    <>
      <datalist id={listId}>
        {keys.map((key) => (
          <option key={key} value={key} />
        ))}
      </datalist>
      <Input
        {...rest}
        mono
        aria-label="Metadata key"
        placeholder="key"
        list={listId}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </>
  )
}

export const metadataKeysOf = (rows: readonly object[]): string[] =>
  [
    ...new Set(rows.slice(0, 500).flatMap((row) => Object.keys((row as { metadata?: object | null }).metadata ?? {}))),
  ].sort()
