import { classes } from '#components/ui/classes.ts'
import { formatBytes } from '#lib/browser/format.ts'

interface CapacityProps {
  reserved: number
  used?: number | null | undefined
  total: number
  unit: CapacityUnit
}

/** Reserved and used amounts of a total, over a bar with a mark at the used amount. */
export const Capacity = ({ reserved, used, total, unit }: CapacityProps) => (
  <span className="block min-w-36 leading-tight">
    <span className="tabular flex items-baseline justify-between gap-3 whitespace-nowrap">
      <span>{amountOf(reserved, total, unit)}</span>
      {used != null && (
        <span className="text-sm text-muted">{`${unit === 'cores' ? cores(used) : formatBytes(used)} used`}</span>
      )}
    </span>
    <span
      aria-hidden
      className="relative mt-1 block h-1.5 forced-color-adjust-none overflow-hidden rounded-full bg-surface-3"
    >
      <span
        className={classes('block h-full rounded-full', reserved > total ? 'bg-attention' : 'bg-line-strong')}
        style={{ width: percent(reserved, total) }}
      />
      {used != null && used > 0 && (
        <span className="absolute inset-y-0 w-0.5 bg-text" style={{ left: `calc(${percent(used, total)} - 2px)` }} />
      )}
    </span>
  </span>
)

const percent = (part: number, total: number) => `${total > 0 ? Math.min(100, (part / total) * 100) : 0}%`

export type CapacityUnit = 'cores' | 'bytes'

export const amount = (value: number, unit: CapacityUnit): string =>
  unit === 'cores' ? `${cores(value)} ${value === 1 ? 'core' : 'cores'}` : formatBytes(value)

/** In the unit of the total: "12.5 of 16 cores", "0.7 of 64.0 GiB". */
export const amountOf = (part: number, total: number, unit: CapacityUnit): string => {
  if (unit === 'cores') return `${cores(part)} of ${amount(total, unit)}`
  const size = total < 1 ? 1 : 1024 ** Math.floor(Math.log2(total) / 10)
  return `${(part / size).toFixed(1)} of ${formatBytes(total)}`
}

const cores = (value: number) => Number(value.toFixed(2)).toString()
