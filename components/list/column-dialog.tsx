'use client'
import { useQuery } from '@tanstack/react-query'
import { ArrowDown, ArrowUp, Minus, Pin, PinOff, Plus, X } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import {
  type ColumnChoice,
  columnLabel,
  defaultChoices,
  inOrder,
  metadataColumnId,
  minColumnWidth,
} from './column-choice.tsx'
import { MetadataKeyInput, type MetadataKeys, metadataKeysOf } from './metadata-filter.tsx'
import type { ChosenColumns } from './use-columns.ts'

interface ColumnDialogProps<Row extends { id: string }> {
  columns: ChosenColumns<Row>
  metadataKeys?: MetadataKeys | undefined
  /** Their metadata keys are suggested if the service doesn't list keys. */
  rows: readonly Row[]
  onClose: () => void
}

const widthStep = 24
const startWidth = 160

export const ColumnDialog = <Row extends { id: string }>({
  columns,
  metadataKeys,
  rows,
  onClose,
}: ColumnDialogProps<Row>) => {
  const { all, choices, set } = columns
  const chosen = choices.map(({ id }) => id)
  const others = all.flatMap(({ id = '' }) => (chosen.includes(id) ? [] : id))
  const move = (at: number, by: number) => {
    const next = [...choices]
    next.splice(at + by, 0, ...next.splice(at, 1))
    set(next)
  }
  const pin = (at: number, isPinned: boolean) =>
    set(inOrder(choices.map((choice, index) => (index === at ? { ...choice, isPinned } : choice))))
  const widen = (at: number, by: number) =>
    set(
      choices.map((choice, index) =>
        index === at ? { ...choice, width: Math.max(minColumnWidth, (choice.width ?? startWidth) + by) } : choice,
      ),
    )
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="sm"
      title="Columns"
      description="Pinned columns stay at the left while the others scroll. Saved in this browser and in the page address."
      footer={
        <>
          <Button onClick={() => set(defaultChoices(all))}>Reset to default</Button>
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <ol aria-label="Columns shown" className="divide-y divide-line">
        {choices.map(({ id, width, isPinned = false }, at) => {
          const label = columnLabel(id, all)
          const fixed = at === 0 ? 'the name is always first' : null
          const isApart = (other: ColumnChoice | undefined) =>
            other && (other.isPinned ?? false) !== isPinned ? 'pinned columns come first' : null
          return (
            <li key={id} className="flex min-h-9 items-center gap-1">
              <span className="min-w-0 flex-1">
                <VisibleText truncate max={60} mono={id.startsWith('metadata.')}>
                  {label}
                </VisibleText>
              </span>
              <IconButton
                size="sm"
                icon={isPinned ? PinOff : Pin}
                label={isPinned ? `Unpin ${label}` : `Pin ${label} left`}
                onClick={() => pin(at, !isPinned)}
              />
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
                disabledReason={fixed ?? (at === 1 ? 'the name is always first' : isApart(choices[at - 1]))}
                onClick={() => move(at, -1)}
              />
              <IconButton
                size="sm"
                icon={ArrowDown}
                label={`Move ${label} down`}
                disabledReason={fixed ?? (at === choices.length - 1 ? 'already last' : isApart(choices[at + 1]))}
                onClick={() => move(at, 1)}
              />
              <IconButton
                size="sm"
                icon={X}
                label={`Hide ${label}`}
                disabledReason={at === 0 ? 'the name is always shown' : null}
                onClick={() => set(choices.filter((_, index) => index !== at))}
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
              <Button key={id} size="sm" icon={Plus} onClick={() => set([...choices, { id }])}>
                {columnLabel(id, all)}
              </Button>
            ))}
          </fieldset>
        )}
        {metadataKeys && (
          <AddMetadataColumn
            metadataKeys={metadataKeys}
            rows={rows}
            onAdd={(key) => {
              const id = metadataColumnId(key)
              if (!chosen.includes(id)) set([...choices, { id }])
            }}
          />
        )}
      </div>
    </Dialog>
  )
}

interface AddMetadataColumnProps {
  metadataKeys: MetadataKeys
  rows: readonly object[]
  onAdd: (key: string) => void
}

const AddMetadataColumn = ({ metadataKeys, rows, onAdd }: AddMetadataColumnProps) => {
  const [key, setKey] = useState('')
  const known = useQuery({ ...metadataKeys, retry: false })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (key !== '') onAdd(key)
    setKey('')
  }
  return (
    <form onSubmit={submit} className="flex gap-2">
      <MetadataKeyInput keys={known.data?.keys ?? metadataKeysOf(rows)} value={key} onChange={setKey} />
      <Button type="submit" icon={Plus} disabledReason={key === '' ? 'enter a metadata key first' : null}>
        Add column
      </Button>
    </form>
  )
}
