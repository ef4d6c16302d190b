import { formatUnit, type Unit } from '#lib/browser/format.ts'
import { chosen } from './choice/browser-choice.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** "12 s ago", "in 3 min", "5 d ago"; the date from 30 days on. NaN and null are unknown times. */
export const formatRelative = (ms: number, nowMs: number, timeZone = shownZone()): string => {
  if (!Number.isFinite(ms)) return 'unknown'
  const distance = Math.abs(nowMs - ms)
  if (distance < 5 * second) return 'just now'
  if (distance >= 30 * day) return formatDate(ms, timeZone)
  const [amount, unit] = largestUnit(distance)
  const words = formatUnit(amount, unit)
  return ms > nowMs ? `in ${words}` : `${words} ago`
}

/** "12 s", "3 min", "5 d": a duration in its largest unit. */
export const formatSpan = (ms: number): string => formatUnit(...largestUnit(ms))

const largestUnit = (ms: number): [number, SpanUnit] => {
  const [size, unit] = units.find(([size]) => ms >= size) ?? [second, 'second']
  return [Math.floor(ms / size), unit]
}

type SpanUnit = Exclude<Unit, 'millisecond'>

const units: [number, SpanUnit][] = [
  [day, 'day'],
  [hour, 'hour'],
  [minute, 'minute'],
  [second, 'second'],
]

/** The zone from the settings, or else the browser's; UTC on the server. */
export const shownZone = (): string => {
  if (typeof document === 'undefined') return 'UTC'
  const zone = chosen('timeZone')
  if (zone !== '' && isKnown(zone)) return zone
  ownZone ??= Intl.DateTimeFormat().resolvedOptions().timeZone
  return ownZone
}
let ownZone: string | undefined

/** This browser may not know a zone that the server accepted. */
const isKnown = (timeZone: string): boolean => {
  try {
    return formatOf(timeZone, 'date') !== undefined
  } catch {
    return false
  }
}

export const formatExact = (ms: number, timeZone = shownZone()): string => {
  const date = toDate(ms)
  if (!date) return Number.isFinite(ms) ? String(ms) : 'Time not reported'
  return `${formatOf(timeZone, 'time').format(date)} ${formatZone(ms, timeZone)}`
}

/** Value of a `datetime-local` input: "2026-11-27T02:00". */
export const formatInput = (ms: number, timeZone = shownZone()): string =>
  formatOf(timeZone, 'minute')
    .format(toDate(ms) ?? 0)
    .replace(' ', 'T')

/** Undefined for an incomplete value. */
export const parseInput = (text: string, timeZone = shownZone()): number | undefined => {
  const asUtc = Date.parse(`${text}Z`)
  if (Number.isNaN(asUtc)) return undefined
  const offsetMs = (ms: number) => Date.parse(`${formatInput(ms, timeZone)}Z`) - ms
  // The offset differs between the two if a change of the clocks lies between them.
  return asUtc - offsetMs(asUtc - offsetMs(asUtc))
}

const formatDate = (ms: number, timeZone: string): string => {
  const date = toDate(ms)
  return date ? formatOf(timeZone, 'date').format(date) : String(ms)
}

/** "13:05:09.042" */
export const formatTimeOfDay = (ms: number, timeZone = shownZone()): string => {
  const at = toDate(ms)
  return at ? formatOf(timeZone, 'timeOfDay').format(at) : 'unknown'
}

/** "GMT+1" */
export const formatZone = (ms: number, timeZone = shownZone()): string => {
  const parts = formatOf(timeZone, 'zone').formatToParts(toDate(ms) ?? 0)
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? timeZone
}

const styles = {
  date: ['sv-SE', { year: 'numeric', month: '2-digit', day: '2-digit' }],
  time: ['sv-SE', { dateStyle: 'short', timeStyle: 'medium', hourCycle: 'h23' }],
  minute: [
    'sv-SE',
    { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  ],
  timeOfDay: ['en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 }],
  zone: ['en', { timeZoneName: 'short' }],
} as const

const formats = new Map<string, Intl.DateTimeFormat>()

/** Cached: creating a formatter takes longer than rendering a row. */
const formatOf = (timeZone: string, style: keyof typeof styles): Intl.DateTimeFormat => {
  const key = `${style} ${timeZone}`
  const [locale, options] = styles[style]
  const format = formats.get(key) ?? new Intl.DateTimeFormat(locale, { ...options, timeZone })
  formats.set(key, format)
  return format
}

/** Null outside the range of Date. */
export const toDate = (ms: number): Date | null =>
  Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? new Date(ms) : null
