import { describe, expect, it } from 'vitest'
import { parseCast, parseSize, withoutPauses } from './asciicast.ts'

const header = '{"version":2,"width":100,"height":30,"title":"bash"}'

describe('a recording', () => {
  it('is parsed into size and events', () => {
    expect(parseCast(`${header}\n[0.5,"o","hi"]\n[1.25, "r", "80x24"]\n[2,"m","here"]\n`)).toEqual({
      cols: 100,
      rows: 30,
      title: 'bash',
      events: [
        { atMs: 500, kind: 'output', data: 'hi' },
        { atMs: 1250, kind: 'size', data: '80x24' },
        { atMs: 2000, kind: 'mark', data: 'here' },
      ],
      skippedLines: 0,
    })
  })

  it.each(['', 'PK\u0003', '{"version":1}', '[]', 'null'])('is refused when it is none: %j', (text) => {
    expect(() => parseCast(text)).toThrow('Not an asciicast v2 recording')
  })

  it('tolerates a truncated file and counts the rest', () => {
    const { events, skippedLines } = parseCast(`${header}\n[0,"o","a"]\nrubbish\n[1,"o",7]\n[1,"o","b"]\n[2,"o","c`)
    expect(events.map(({ data }) => data)).toEqual(['a', 'b'])
    expect(skippedLines).toBe(3)
  })

  it('ignores sizes a terminal cannot have', () => {
    expect(parseCast('{"version":2,"width":1e9,"height":-4}')).toMatchObject({ cols: 1000, rows: 24 })
    expect(parseSize('0x5')).toEqual({ cols: 80, rows: 5 })
    expect(parseSize('12by5')).toBeUndefined()
  })
})

it('shortens pauses only', () => {
  const at = (...times: number[]) => times.map((atMs) => ({ atMs, kind: 'output' as const, data: '' }))
  expect(withoutPauses(at(5_000, 5_100, 65_100), 2_000)).toEqual(at(2_000, 2_100, 4_100))
  expect(withoutPauses(at(5_000, 65_100), Number.POSITIVE_INFINITY)).toEqual(at(5_000, 65_100))
})
