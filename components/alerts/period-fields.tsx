'use client'
import { Input } from '#components/ui/input.tsx'
import { useShownZone } from '#components/ui/relative-time.tsx'
import { Select } from '#components/ui/select.tsx'
import { formatInput, formatZone, parseInput } from '#components/ui/time-text.ts'
import { serviceNow } from '#lib/client/clock.ts'
import { type AlertPeriod, alertPeriods } from '#lib/protocol/alert-period.ts'

/** A period that ends now, or times of its own. */
export interface PeriodParams {
  period?: AlertPeriod | undefined
  from_ms?: number | undefined
  to_ms?: number | undefined
}

const periodLabels: Record<AlertPeriod, string> = {
  '12h': 'Last 12 hours',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  month: 'This month (UTC)',
}

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

interface PeriodFieldsProps {
  value: PeriodParams
  /** Label of the option for no period, if there is one. */
  any?: string
  onChange: (period: PeriodParams) => void
}

export const PeriodFields = ({ value: { period, from_ms, to_ms }, any, onChange }: PeriodFieldsProps) => {
  const isCustom = from_ms !== undefined || to_ms !== undefined
  const choose = (choice: string) => {
    if (choice !== 'custom')
      return onChange({
        period: alertPeriods.find((each) => each === choice),
        from_ms: undefined,
        to_ms: undefined,
      })
    const now = Math.ceil(serviceNow() / minuteMs) * minuteMs
    onChange({ period: undefined, from_ms: now - dayMs, to_ms: now })
  }
  return (
    <>
      <Select
        aria-label="Period"
        className="w-44 max-sm:flex-1 max-sm:basis-32"
        value={isCustom ? 'custom' : (period ?? '')}
        onChange={({ target }) => choose(target.value)}
        options={[
          ...(any === undefined ? [] : [{ value: '', label: any }]),
          ...alertPeriods.map((each) => ({ value: each, label: periodLabels[each] })),
          { value: 'custom', label: 'Custom' },
        ]}
      />
      {isCustom && (
        <>
          <TimeField label="From" ms={from_ms} onChange={(from_ms) => onChange({ from_ms, to_ms })} />
          <TimeField label="To" ms={to_ms} onChange={(to_ms) => onChange({ from_ms, to_ms })} />
        </>
      )}
    </>
  )
}

interface TimeFieldProps {
  label: string
  ms: number | undefined
  onChange: (ms: number | undefined) => void
}

const TimeField = ({ label, ms, onChange }: TimeFieldProps) => {
  const zone = useShownZone()
  return (
    <span className="w-52 max-sm:flex-1">
      <Input
        type="datetime-local"
        aria-label={label}
        title={`${label}, ${formatZone(ms ?? 0, zone)}`}
        value={ms === undefined ? '' : formatInput(ms, zone)}
        onChange={({ target }) => onChange(parseInput(target.value, zone))}
      />
    </span>
  )
}
