export const formatCount = (count: number): string => numbers.format(count)
const numbers = new Intl.NumberFormat('en')

export const formatCountOf = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`

const units = { millisecond: 'ms', second: 's', minute: 'min', hour: 'h', day: 'd' } as const
export type Unit = keyof typeof units

export const formatUnit = (amount: number, unit: Unit, digits = 0): string => `${amount.toFixed(digits)} ${units[unit]}`

/** ISO 8601; undefined for a missing, invalid or out-of-range time. */
export const isoTime = (ms: number): string | undefined =>
  Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : undefined

/** Binary units with three digits: "1.21 MiB". */
export const formatBytes = (bytes: number): string => {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), byteUnits.length - 1)
  const amount = bytes / 1024 ** power
  const digits = amount >= 1000 ? 4 : 3
  const precision = power > 0 ? { minimumSignificantDigits: digits, maximumSignificantDigits: digits } : {}
  const number = new Intl.NumberFormat('en', { ...precision, useGrouping: false })
  return `${number.format(amount)} ${byteUnits[power]}`
}

const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** The two largest units: "850 ms", "4.2 s", "3 min 5 s", "2 h 10 min", "5 d 3 h". */
export const formatDurationMs = (ms: number): string => {
  if (ms < 1000) return formatUnit(Math.max(0, Math.round(ms)), 'millisecond')
  if (ms < 10_000) return formatUnit(Math.floor(ms / 100) / 10, 'second', 1)
  const seconds = Math.floor(ms / 1000)
  const parts: [number, Unit][] = [
    [Math.floor(seconds / 86_400), 'day'],
    [Math.floor(seconds / 3600) % 24, 'hour'],
    [Math.floor(seconds / 60) % 60, 'minute'],
    [seconds % 60, 'second'],
  ]
  const first = parts.findIndex(([amount]) => amount > 0)
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => formatUnit(amount, unit))
    .join(' ')
}

/** The same for what still runs: whole seconds, so that it ticks evenly. */
export const formatElapsedMs = (ms: number): string =>
  ms < 10_000 ? formatUnit(Math.max(0, Math.floor(ms / 1000)), 'second') : formatDurationMs(ms)

/** `04:12`, `1:04:12`. Rounded up, so that 00:00 is shown only once the time is over. */
export const formatCountdown = (ms: number): string => clock(Math.ceil(ms / 1000)).padStart(5, '0')

/** Position in a recording: "0:07", "12:05", "1:02:09". */
export const formatClock = (ms: number): string => clock(Math.max(0, Math.floor(ms / 1000)))

const clock = (seconds: number): string => {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const two = (part: number) => String(part).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`
}

/** Size of a list; `total` is null if unknown. */
export const formatShown = (shown: number, hasMore: boolean, total: number | null | undefined): string => {
  // Rows created since the total was counted must not produce "21 of 20".
  if (Number.isFinite(total)) return `Showing ${formatCount(shown)} of ${formatCount(Math.max(shown, total ?? 0))}`
  return `Showing ${formatCount(shown)}${hasMore ? ', more exist' : ''}`
}

export interface ListSize {
  shown: number
  /** Loaded rows that match the service's filters; the page's own filters may show fewer. */
  loaded: number
  total: number | null
  hasMore: boolean
}

/** Size of a list that the page also filters. */
export const formatSize = ({ shown, loaded, total, hasMore }: ListSize): string => {
  if (shown === loaded) return formatShown(shown, hasMore, total)
  if (!hasMore) return formatShown(shown, hasMore, total ?? loaded)
  const rest = total === null ? 'more exist' : `${formatCount(Math.max(loaded, total))} in all`
  return `Showing ${formatCount(shown)} of ${formatCount(loaded)} loaded, ${rest}`
}
