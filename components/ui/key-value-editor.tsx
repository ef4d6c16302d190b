'use client'
import { Plus, X } from 'lucide-react'
import { type ClipboardEvent, useId, useRef } from 'react'
import { flushSync } from 'react-dom'
import { Button } from './button.tsx'
import { FieldError } from './field.tsx'
import { IconButton } from './icon-button.tsx'
import { Input } from './input.tsx'
import { type KeyValueRow, parseAssignments } from './key-values.ts'

export interface KeyValueEditorProps {
  label: string
  value: readonly KeyValueRow[]
  onChange: (rows: KeyValueRow[]) => void
  keyPlaceholder?: string
  addLabel?: string
  keySuggestions?: readonly string[]
  valuePlaceholder?: string
  valueSuggestions?: readonly string[]
  hint?: string
  error?: string | null
}

export const KeyValueEditor = ({
  label,
  value: rows,
  onChange,
  keyPlaceholder = 'key',
  addLabel = 'Add row',
  keySuggestions = [],
  valuePlaceholder = 'value',
  valueSuggestions = [],
  hint = 'Paste KEY=VALUE lines to add several at once.',
  error,
}: KeyValueEditorProps) => {
  const id = useId()
  const group = useRef<HTMLFieldSetElement>(null)
  const change = (index: number, part: Partial<KeyValueRow>) =>
    onChange(rows.map((row, at) => (at === index ? { ...row, ...part } : row)))
  const paste = (index: number) => (event: ClipboardEvent<HTMLInputElement>) => {
    const pasted = parseAssignments(event.clipboardData.getData('text'))
    if (!pasted || event.currentTarget.value !== '') return
    event.preventDefault()
    onChange([...rows.slice(0, index), ...pasted, ...rows.slice(index + 1)])
  }
  /** Focuses in the same turn, so that no later key goes elsewhere. */
  const changeAndFocus = (next: KeyValueRow[], selector: string) => {
    flushSync(() => onChange(next))
    group.current?.querySelector<HTMLElement>(selector)?.focus()
  }
  const add = () => changeAndFocus([...rows, { key: '', value: '' }], `[data-row="${rows.length}"] input`)
  const remove = (index: number) =>
    changeAndFocus(
      rows.filter((_, at) => at !== index),
      '[data-add]',
    )
  return (
    <fieldset ref={group} aria-describedby={`${id}-hint`} className="min-w-0 space-y-2">
      <legend className="mb-1 font-medium">{label}</legend>
      <Suggestions id={`${id}-keys`} words={keySuggestions} />
      <Suggestions id={`${id}-values`} words={valueSuggestions} />
      {rows.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows are edited in place and have no other identity
        <div key={index} data-row={index} className="flex items-center gap-1.5">
          <Input
            mono
            aria-label={`${label}: key ${index + 1}`}
            placeholder={keyPlaceholder}
            list={keySuggestions.length > 0 ? `${id}-keys` : undefined}
            value={row.key}
            onPaste={paste(index)}
            onChange={(event) => change(index, { key: event.target.value })}
          />
          <span aria-hidden className="font-mono text-muted">
            =
          </span>
          <Input
            mono
            aria-label={`${label}: value ${index + 1}`}
            placeholder={valuePlaceholder}
            list={valueSuggestions.length > 0 ? `${id}-values` : undefined}
            value={row.value}
            onChange={(event) => change(index, { value: event.target.value })}
          />
          <IconButton
            size="sm"
            icon={X}
            label={`Remove ${row.key || `row ${index + 1}`}`}
            onClick={() => remove(index)}
          />
        </div>
      ))}
      {error && <FieldError>{error}</FieldError>}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Button data-add size="sm" icon={Plus} onClick={add}>
          {addLabel}
        </Button>
        <span id={`${id}-hint`} className="text-sm text-muted">
          {hint}
        </span>
      </div>
    </fieldset>
  )
}

const Suggestions = ({ id, words }: { id: string; words: readonly string[] }) =>
  words.length > 0 && (
    <datalist id={id}>
      {words.map((word) => (
        <option key={word} value={word} />
      ))}
    </datalist>
  )
