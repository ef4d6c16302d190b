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
  events: CastEvent[]
  skippedLines: number
}

const kinds: Record<string, CastEvent['kind']> = { o: 'output', r: 'size', m: 'mark' }

/** https://docs.asciinema.org/manual/asciicast/v2/. Throws an error to show to the user if it isn't one. */
export const parseCast = (text: string): Cast => {
  const [first = '', ...lines] = text.split('\n')
  const header = parsed(first) as { version?: unknown; width?: unknown; height?: unknown; title?: unknown } | undefined
  if (header?.version !== 2) throw new Error('Not an asciicast v2 recording')
  let skippedLines = 0
  let atMs = 0
  const events: CastEvent[] = []
  for (const line of lines) {
    if (line.trim() === '') continue
    const value = parsed(line)
    const [seconds, code, data] = Array.isArray(value) ? (value as unknown[]) : []
    const kind = kinds[String(code)]
    if (typeof seconds !== 'number' || !(seconds >= 0) || typeof data !== 'string') skippedLines += 1
    else if (kind) {
      // Decreasing times would stop the player.
      atMs = Math.max(atMs, seconds * 1000)
      events.push({ atMs, kind, data })
    }
  }
  return {
    cols: cells(header.width, 80),
    rows: cells(header.height, 24),
    title: typeof header.title === 'string' ? header.title : '',
    events,
    skippedLines,
  }
}

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
