const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** "12 s ago", "in 3 min", "5 d ago"; from 30 days on the date. Both in epoch milliseconds; NaN is a time nobody told. */
export const formatRelative = (ms: number, nowMs: number): string => {
  if (Number.isNaN(ms)) return 'unknown'
  const distance = Math.abs(nowMs - ms)
  if (distance < 5 * second) return 'just now'
  if (distance >= 30 * day) return toDate(ms)?.toISOString().slice(0, 10) ?? String(ms)
  const [size, unit] = units.find(([size]) => distance >= size) ?? [second, 's']
  const amount = `${Math.floor(distance / size)} ${unit}`
  return ms > nowMs ? `in ${amount}` : `${amount} ago`
}

const units: [number, string][] = [
  [day, 'd'],
  [hour, 'h'],
  [minute, 'min'],
  [second, 's'],
]

/** Date, time with seconds and the zone; in UTC unless a zone is given. */
export const formatExact = (ms: number, timeZone = 'UTC'): string => {
  const date = toDate(ms)
  if (!date) return Number.isNaN(ms) ? 'The service did not tell the time' : String(ms)
  const { time, zone } = formatsOf(timeZone)
  const name = zone.formatToParts(date).find(({ type }) => type === 'timeZoneName')?.value
  return `${time.format(date)} ${name ?? timeZone}`
}

/** Local time to the millisecond: "13:05:09.042". */
export const formatTimeOfDay = (ms: number): string => {
  const at = toDate(ms)
  return at ? timeOfDay.format(at) : 'unknown'
}
const timeOfDay = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
})

interface Formats {
  time: Intl.DateTimeFormat
  zone: Intl.DateTimeFormat
}
const formats = new Map<string, Formats>()

/** Kept: to make one takes longer than to draw the row it is for. */
const formatsOf = (timeZone: string): Formats => {
  let found = formats.get(timeZone)
  if (!found) {
    found = {
      time: new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }),
      zone: new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'short' }),
    }
    formats.set(timeZone, found)
  }
  return found
}

/** The date of a time, or null when it is outside what a date can hold. */
export const toDate = (ms: number): Date | null => (Math.abs(ms) <= 8.64e15 ? new Date(ms) : null)
