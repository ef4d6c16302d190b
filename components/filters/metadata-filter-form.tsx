'use client'
import { type FormEvent, useId, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { FieldError } from '#components/ui/field.tsx'
import { Input } from '#components/ui/input.tsx'
import { Select } from '#components/ui/select.tsx'
import { cutEnd } from '#components/ui/text.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { addValue, readCondition, valuesLike } from '#lib/browser/lists/metadata-condition.ts'
import type { MetadataCondition } from '#lib/contract/encode-query.ts'

export interface MetadataFilterFormProps {
  keySuggestions?: readonly string[]
  /** Values that `onKey`'s last key has. */
  valueSuggestions?: readonly string[]
  onKey?: (key: string) => void
  onAdd: (condition: MetadataCondition) => void
}

const maxSuggested = 12

export const MetadataFilterForm = ({
  keySuggestions = [],
  valueSuggestions = [],
  onKey,
  onAdd,
}: MetadataFilterFormProps) => {
  const listId = useId()
  const [key, setKey] = useState('')
  const [op, setOp] = useState<MetadataCondition['op']>('eq')
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const read = readCondition(key, op, text)
    if (read.ok) onAdd(read.condition)
    setProblem(read.ok ? null : read.message)
  }
  const fitting = valuesLike(valueSuggestions, op, text)
  return (
    <form
      onSubmit={submit}
      aria-label="Filter by metadata"
      className="space-y-2 rounded-md border border-line bg-surface-1 p-2"
    >
      <div className="flex flex-wrap items-center gap-2">
        <datalist id={listId}>
          {keySuggestions.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
        <Input
          mono
          // The form was opened by the click before.
          autoFocus
          aria-label="Metadata key"
          placeholder="key"
          list={keySuggestions.length > 0 ? listId : undefined}
          className="max-w-44"
          value={key}
          onChange={({ target }) => {
            setKey(target.value)
            onKey?.(target.value)
          }}
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
      {fitting.length > 0 && (
        <ul aria-label={`Values of ${cutEnd(key, 80)}`} className="flex flex-wrap items-center gap-1">
          {fitting.slice(0, maxSuggested).map((value) => (
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
          {fitting.length > maxSuggested && (
            <li className="tabular px-1 text-xs text-muted">
              {`${fitting.length - maxSuggested} more; type to find them`}
            </li>
          )}
        </ul>
      )}
    </form>
  )
}
