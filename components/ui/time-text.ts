import { formatUnit, type Unit } from '#lib/browser/format.ts'
import { chosen } from './choice/browser-choice.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** "12 s ago", "in 3 min", "5 d ago"; from 30 days on the date. Both in epoch milliseconds; NaN is a time nobody told, and so is null, which it becomes as JSON. */
export const formatRelative = (ms: number, nowMs: number, timeZone = shownZone()): string => {
  if (!Number.isFinite(ms)) return 'unknown'
  const distance = Math.abs(nowMs - ms)
  if (distance < 5 * second) return 'just now'
  if (distance >= 30 * day) return formatDate(ms, timeZone)
  const [amount, unit] = largestUnit(distance)
  const words = formatUnit(amount, unit)
  return ms > nowMs ? `in ${words}` : `${words} ago`
}

/** "12 s", "3 min", "5 d": how long something has been, in its largest unit. */
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

/** Where times are told: the zone that was chosen in the settings, else the browser's own; UTC on the server. */
export const shownZone = (): string => {
  if (typeof document === 'undefined') return 'UTC'
  const zone = chosen('timeZone')
  if (zone !== '' && isKnown(zone)) return zone
  ownZone ??= Intl.DateTimeFormat().resolvedOptions().timeZone
  return ownZone
}
let ownZone: string | undefined

/** The server may know a zone that this browser does not. */
const isKnown = (timeZone: string): boolean => {
  try {
    return formatsOf(timeZone) !== undefined
  } catch {
    return false
  }
}

/** Date, time with seconds and the zone. */
export const formatExact = (ms: number, timeZone = shownZone()): string => {
  const date = toDate(ms)
  if (!date) return Number.isFinite(ms) ? String(ms) : 'The service did not tell the time'
  return `${formatsOf(timeZone).time.format(date)} ${formatZone(ms, timeZone)}`
}

const formatDate = (ms: number, timeZone: string): string => {
  const date = toDate(ms)
  return date ? formatsOf(timeZone).date.format(date) : String(ms)
}

/** The time of day to the millisecond, where times are told: "13:05:09.042". */
export const formatTimeOfDay = (ms: number, timeZone = shownZone()): string => {
  const at = toDate(ms)
  return at ? formatsOf(timeZone).timeOfDay.format(at) : 'unknown'
}

/** What the zone where times are told is called at a time: "GMT+1". */
export const formatZone = (ms: number, timeZone = shownZone()): string => {
  const parts = formatsOf(timeZone).zone.formatToParts(toDate(ms) ?? 0)
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? timeZone
}

interface Formats {
  date: Intl.DateTimeFormat
  time: Intl.DateTimeFormat
  timeOfDay: Intl.DateTimeFormat
  zone: Intl.DateTimeFormat
}
const formats = new Map<string, Formats>()

/** Kept: to make one takes longer than to draw the row it is for. */
const formatsOf = (timeZone: string): Formats => {
  let found = formats.get(timeZone)
  if (!found) {
    found = {
      date: new Intl.DateTimeFormat('sv-SE', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }),
      time: new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium', hourCycle: 'h23' }),
      timeOfDay: new Intl.DateTimeFormat('en-GB', {
        timeZone,
        hour: '2-digit',
        minute: '2-digit',
        second: '2-digit',
        fractionalSecondDigits: 3,
      }),
      zone: new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'short' }),
    }
    formats.set(timeZone, found)
  }
  return found
}

/** The date of a time, or null when it is outside what a date can hold. */
export const toDate = (ms: number): Date | null =>
  Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? new Date(ms) : null
