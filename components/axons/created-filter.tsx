'use client'
import { CalendarRange } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { TextField } from '#components/ui/field.tsx'
import { Popover } from '#components/ui/popover.tsx'
import { readRange, type TimeRange, writeRange } from './search-params.ts'

const hourMs = 3_600_000
const spans = [
  { label: 'Last hour', ms: hourMs },
  { label: 'Last 24 hours', ms: 24 * hourMs },
  { label: 'Last 7 days', ms: 7 * 24 * hourMs },
  { label: 'Last 30 days', ms: 30 * 24 * hourMs },
] as const

interface CreatedFilterProps {
  value: string | undefined
  onChange: (range: string | undefined) => void
}

/** In UTC, so that an address means the same everywhere. */
export const CreatedFilter = ({ value, onChange }: CreatedFilterProps) => {
  const [isOpen, setIsOpen] = useState(false)
  const range = (value && readRange(value)) || {}
  const set = (part: Partial<TimeRange>) => onChange(writeRange({ ...range, ...part }))
  return (
    <Popover
      trigger={<Button icon={CalendarRange}>Created</Button>}
      label="Filter by creation time"
      align="start"
      open={isOpen}
      onOpenChange={setIsOpen}
    >
      <div className="flex flex-wrap gap-1.5">
        {spans.map(({ label, ms }) => (
          <Button
            key={label}
            size="sm"
            onClick={() => {
              onChange(writeRange({ fromMs: Date.now() - ms }))
              setIsOpen(false)
            }}
          >
            {label}
          </Button>
        ))}
      </div>
      <TextField
        label="From"
        hint="UTC, inclusive"
        type="datetime-local"
        value={toInput(range.fromMs)}
        onText={(text) => set({ fromMs: fromInput(text) })}
      />
      <TextField
        label="Before"
        hint="UTC, exclusive"
        type="datetime-local"
        value={toInput(range.beforeMs)}
        onText={(text) => set({ beforeMs: fromInput(text) })}
      />
      {value && (
        <Button size="sm" variant="ghost" onClick={() => onChange(undefined)}>
          Any time
        </Button>
      )}
    </Popover>
  )
}

const toInput = (ms: number | undefined): string => (ms === undefined ? '' : new Date(ms).toISOString().slice(0, 16))

const fromInput = (text: string): number | undefined => {
  const ms = Date.parse(`${text}Z`)
  return text === '' || Number.isNaN(ms) ? undefined : ms
}
