'use client'
import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useId } from 'react'
import type { PickerQuery } from '#components/list/record-picker.tsx'
import { Field } from '#components/ui/field.tsx'
import { Input } from '#components/ui/input.tsx'
import { Select } from '#components/ui/select.tsx'

interface ChoiceFieldProps {
  label: string
  /** Shows no label, as for a cell of a row. */
  isCell?: boolean
  query: (search: string) => PickerQuery
  value: string
  onPick: (id: string) => void
  /** Label of the empty value. */
  empty: string
  hint?: string
  error?: string | undefined
}

/**
 * A record by name: a select field if one page lists all, otherwise a text field that suggests records as one types. The
 * text field takes any ID, also where the service can't list records.
 */
export const ChoiceField = ({ label, isCell, query, value, onPick, empty, hint, error }: ChoiceFieldProps) => {
  const all = useQuery(query(''))
  const isTyped = all.isError || all.data?.hasMore === true
  const search = useDeferredValue(value.trim())
  const found = useQuery({ ...query(search), enabled: isTyped && !all.isError && search !== '' })
  const id = useId()
  const rows = all.data?.rows ?? []
  const suggestions = search === '' ? rows : [...(found.data?.rows ?? []), ...rows.filter((row) => row.id === value)]
  const chosen = suggestions.find((row) => row.id === value)
  const control = (field: object) =>
    isTyped ? (
      <>
        <Input
          {...field}
          mono
          list={all.isError ? undefined : id}
          placeholder={all.isError ? 'ID' : 'Type a name, or enter an ID'}
          value={value}
          onChange={({ target }) => onPick(target.value)}
        />
        <datalist id={id}>
          {suggestions.map((row) => (
            <option key={row.id} value={row.id}>
              {row.name}
            </option>
          ))}
        </datalist>
      </>
    ) : (
      <Select
        {...field}
        value={value}
        onChange={({ target }) => onPick(target.value)}
        options={[
          { value: '', label: all.isPending ? 'Loading' : rows.length > 0 ? empty : 'None available' },
          ...(value === '' || rows.some((row) => row.id === value) ? [] : [{ value, label: value }]),
          ...rows.map((row) => ({ value: row.id, label: row.name })),
        ]}
      />
    )
  if (isCell) return <span className="min-w-0 flex-1 basis-40">{control({ 'aria-label': label })}</span>
  const state = all.isError
    ? "The service can't list them. Enter an ID."
    : isTyped && chosen && chosen.name !== chosen.id
      ? chosen.name
      : undefined
  return (
    <Field label={label} hint={[hint, state].filter(Boolean).join('. ')} error={error}>
      {control}
    </Field>
  )
}
