import { maxCells } from '#lib/contract/terminals.ts'

export interface CastEvent {
  atMs: number
  kind: 'output' | 'size' | 'mark'
  data: string
}

export interface Cast {
  cols: number
  rows: number
  title: string
  /** The recording's own limit on pauses. */
  maxPauseMs: number | null
  events: CastEvent[]
  /** Unreadable events; the end of a truncated file counts as one. */
  skippedEvents: number
}

const kinds: Record<string, CastEvent['kind']> = { o: 'output', r: 'size', m: 'mark' }

interface Header {
  version?: unknown
  width?: unknown
  height?: unknown
  term?: { cols?: unknown; rows?: unknown } | null
  title?: unknown
  idle_time_limit?: unknown
}

/**
 * Reads versions 1 to 3: https://docs.asciinema.org/manual/asciicast/v3/. A damaged file plays without its unreadable parts.
 * Throws an error to show to the user if the text isn't a recording.
 */
export const parseCast = (text: string): Cast => {
  const [first = '', ...lines] = text.split('\n')
  const header = parsed(first) as Header | null | undefined
  const version = header?.version
  if (version === 2 || version === 3) return castOf(header as Header, eventsIn(lines, version === 3))
  if (firstVersion.test(text)) return firstVersionCast(text)
  throw new Error(
    typeof version === 'number'
      ? `Recordings of asciicast version ${version} can't be played`
      : 'Not an asciicast recording',
  )
}

type Events = Pick<Cast, 'events' | 'skippedEvents'>

const eventsIn = (lines: readonly string[], isRelative: boolean): Events =>
  readEvents(
    lines.flatMap((line) => (line.trim() === '' || (isRelative && line.startsWith('#')) ? [] : [parsed(line)])),
    isRelative,
  )

const readEvents = (values: readonly unknown[], isRelative: boolean): Events => {
  let skippedEvents = 0
  let atMs = 0
  const events: CastEvent[] = []
  for (const value of values) {
    const [seconds, code, data] = Array.isArray(value) ? (value as unknown[]) : []
    const kind = kinds[String(code)]
    const isTimed = typeof seconds === 'number' && seconds >= 0 && Number.isFinite(seconds)
    // Decreasing times would stop the player. Events of other kinds take time too.
    if (isTimed) atMs = isRelative ? atMs + seconds * 1000 : Math.max(atMs, seconds * 1000)
    if (!isTimed || (kind ? typeof data !== 'string' : typeof code !== 'string')) skippedEvents += 1
    else if (kind) events.push({ atMs, kind, data: data as string })
  }
  return { events, skippedEvents }
}

const firstVersion = /^\s*\{[^[]*"version"\s*:\s*1\s*[,}]/
const frame = /\s*(\[\s*[\d.eE+-]+\s*,\s*"[^"\\]*(?:\\.[^"\\]*)*"\s*\])\s*,?/y

/** Version 1 is one JSON document with relative times. A truncated one is read frame by frame. */
const firstVersionCast = (text: string): Cast => {
  const whole = parsed(text) as (Header & { stdout?: unknown }) | undefined
  if (whole) return castOf(whole, eventsOf(Array.isArray(whole.stdout) ? whole.stdout : []))
  const { index = text.length, 0: opening = '' } = /"stdout"\s*:\s*\[/.exec(text) ?? {}
  const frames: unknown[] = []
  const next = new RegExp(frame)
  next.lastIndex = index + opening.length
  for (let found = next.exec(text); found; found = next.exec(text)) frames.push(parsed(found[1] as string))
  const header = parsed(`${text.slice(0, index).replace(/[,\s]*$/, '')}}`) as Header | undefined
  return castOf(header ?? {}, eventsOf([...frames, undefined]))
}

const eventsOf = (frames: readonly unknown[]): Events =>
  readEvents(
    frames.map((each) => (Array.isArray(each) ? [each[0], 'o', each[1]] : each)),
    true,
  )

const castOf = ({ width, height, term, title, idle_time_limit }: Header, read: Events): Cast => ({
  cols: cells(term?.cols ?? width, 80),
  rows: cells(term?.rows ?? height, 24),
  title: typeof title === 'string' ? title : '',
  maxPauseMs: typeof idle_time_limit === 'number' && idle_time_limit > 0 ? idle_time_limit * 1000 : null,
  ...read,
})

export const parseSize = (data: string): { cols: number; rows: number } | undefined => {
  const [, cols, rows] = /^(\d{1,4})x(\d{1,4})$/.exec(data) ?? []
  return cols === undefined ? undefined : { cols: cells(Number(cols), 80), rows: cells(Number(rows), 24) }
}

/** Shortens pauses to `maxPauseMs`. Infinity keeps them. */
export const withoutPauses = (events: readonly CastEvent[], maxPauseMs: number): CastEvent[] => {
  let before = 0
  let atMs = 0
  return events.map((event) => {
    atMs += Math.min(event.atMs - before, maxPauseMs)
    before = event.atMs
    return { ...event, atMs }
  })
}

const cells = (value: unknown, fallback: number) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 ? Math.min(value, maxCells) : fallback

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
