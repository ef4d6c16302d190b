'use client'
import { type QueryKey, type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { ArrowDown, ArrowUp, Minus, Plus, X } from 'lucide-react'
import { type FormEvent, useId, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Input } from '#components/ui/input.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { columnLabel, metadataColumnId, usualColumns } from '#lib/browser/address/columns/column-text.ts'
import type { ColumnChoice } from '#lib/browser/address/list-columns.ts'
import { choicesOf, keepColumns } from './keep-columns.ts'
import type { ChosenColumns } from './use-columns.ts'

export interface ColumnDialogProps {
  columns: ChosenColumns
  onClose: () => void
  /** Of all rows, where these have metadata and the service tells its keys. */
  metadataKeys?: UseQueryOptions<{ keys: string[] }, Error, { keys: string[] }, QueryKey> | undefined
  /** Keys seen in the rows, for a service that does not list them. */
  seenKeys: () => readonly string[]
}

const widthStep = 24
const startWidth = 160

/** Which columns there are, in which order and how wide; everything the pointer can do with a header and more. */
export const ColumnDialog = ({ columns: chosenBy, onClose, metadataKeys, seenKeys }: ColumnDialogProps) => {
  const { list } = chosenBy
  const columns = choicesOf(chosenBy)
  const onChange = (next: readonly ColumnChoice[]) => keepColumns(chosenBy, next)
  const chosen = columns.map(({ id }) => id)
  const others = Object.keys(list.labels).filter((id) => !chosen.includes(id))
  const move = (at: number, by: number) => {
    const after = [...columns]
    after.splice(at + by, 0, ...after.splice(at, 1))
    onChange(after)
  }
  const widen = (at: number, by: number) =>
    onChange(
      columns.map((column, index) =>
        index === at ? { ...column, width: Math.max(56, (column.width ?? startWidth) + by) } : column,
      ),
    )
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="sm"
      title="Columns"
      description="Kept in this browser and in the address of the page."
      footer={
        <>
          <Button onClick={() => onChange(usualColumns(list))}>Use the default columns</Button>
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <ol aria-label="Columns shown" className="divide-y divide-line">
        {columns.map(({ id, width }, at) => {
          const label = columnLabel(id, list)
          return (
            <li key={id} className="flex min-h-9 items-center gap-1">
              <span className="min-w-0 flex-1">
                <VisibleText truncate max={60} mono={id.startsWith('metadata.')}>
                  {label}
                </VisibleText>
              </span>
              <IconButton
                size="sm"
                icon={Minus}
                label={`Make ${label} narrower`}
                onClick={() => widen(at, -widthStep)}
              />
              <span className="tabular w-11 text-center text-sm text-muted">{width ? `${width} px` : 'auto'}</span>
              <IconButton size="sm" icon={Plus} label={`Make ${label} wider`} onClick={() => widen(at, widthStep)} />
              <IconButton
                size="sm"
                icon={ArrowUp}
                label={`Move ${label} up`}
                disabledReason={at === 0 ? 'This column names the row' : at === 1 ? 'the name stands first' : null}
                onClick={() => move(at, -1)}
              />
              <IconButton
                size="sm"
                icon={ArrowDown}
                label={`Move ${label} down`}
                disabledReason={
                  at === 0 ? 'This column names the row' : at === columns.length - 1 ? 'This is the last column' : null
                }
                onClick={() => move(at, 1)}
              />
              <IconButton
                size="sm"
                icon={X}
                label={`Hide ${label}`}
                disabledReason={at === 0 ? 'This column names the row' : null}
                onClick={() => onChange(columns.filter((_, index) => index !== at))}
              />
            </li>
          )
        })}
      </ol>
      <div className="mt-4 space-y-3">
        {others.length > 0 && (
          <fieldset className="flex flex-wrap gap-1.5">
            <legend className="mb-1.5 font-medium">Add a column</legend>
            {others.map((id) => (
              <Button key={id} size="sm" icon={Plus} onClick={() => onChange([...columns, { id }])}>
                {columnLabel(id, list)}
              </Button>
            ))}
          </fieldset>
        )}
        {metadataKeys && (
          <AddMetadataColumn
            chosen={chosen}
            metadataKeys={metadataKeys}
            seenKeys={seenKeys}
            onAdd={(id) => onChange([...columns, { id }])}
          />
        )}
      </div>
    </Dialog>
  )
}

interface AddMetadataColumnProps extends Pick<ColumnDialogProps, 'seenKeys'> {
  metadataKeys: NonNullable<ColumnDialogProps['metadataKeys']>
  chosen: readonly string[]
  onAdd: (id: string) => void
}

const AddMetadataColumn = ({ chosen, metadataKeys, seenKeys, onAdd }: AddMetadataColumnProps) => {
  const listId = useId()
  const [key, setKey] = useState('')
  const known = useQuery({ ...metadataKeys, retry: false })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (key !== '' && !chosen.includes(metadataColumnId(key))) onAdd(metadataColumnId(key))
    setKey('')
  }
  return (
    <form onSubmit={submit} className="flex gap-2">
      <datalist id={listId}>
        {(known.data?.keys ?? seenKeys()).map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <Input
        mono
        aria-label="Metadata key"
        placeholder="metadata key"
        list={listId}
        value={key}
        onChange={({ target }) => setKey(target.value)}
      />
      <Button type="submit" icon={Plus} disabledReason={key === '' ? 'it needs a key' : null}>
        Add its values
      </Button>
    </form>
  )
}
