import { describe, expect, it } from 'vitest'
import { parseCast, parseSize, withoutPauses } from './asciicast.ts'

const header = '{"version":2,"width":100,"height":30,"title":"bash"}'

describe('a recording', () => {
  it('is parsed into size and events', () => {
    expect(parseCast(`${header}\n[0.5,"o","hi"]\n[1.25, "r", "80x24"]\n[2,"m","here"]\n`)).toEqual({
      cols: 100,
      rows: 30,
      title: 'bash',
      maxPauseMs: null,
      events: [
        { atMs: 500, kind: 'output', data: 'hi' },
        { atMs: 1250, kind: 'size', data: '80x24' },
        { atMs: 2000, kind: 'mark', data: 'here' },
      ],
      skippedEvents: 0,
    })
  })

  it.each(['', 'PK\u0003', '{"version":"2"}', '[]', 'null'])('is rejected if it is invalid: %j', (text) => {
    expect(() => parseCast(text)).toThrow('Not an asciicast recording')
  })

  it('names a version it cannot play', () => {
    expect(() => parseCast('{"version":4,"term":{}}')).toThrow("Recordings of asciicast version 4 can't be played")
  })

  it('of version 3 has relative times, comments, input and an exit status', () => {
    const text = [
      '{"version":3,"term":{"cols":120,"rows":40,"type":"xterm-256color"},"idle_time_limit":1.5,"title":"agent"}',
      '# a comment',
      '[0.248848,"o","\\u001b[?2004h$ "]',
      '[0.5,"i","ls\\r"]',
      '[1,"o","ls\\r\\n"]',
      '[0.25,"r","100x30"]',
      '[2,"m",""]',
      '[0.75,"x","0"]',
    ]
    const cast = parseCast(`${text.join('\r\n')}\r\n`)
    expect(cast).toMatchObject({ cols: 120, rows: 40, title: 'agent', maxPauseMs: 1500, skippedEvents: 0 })
    expect(cast.events.map(({ atMs, kind, data }) => [Math.round(atMs), kind, data])).toEqual([
      [249, 'output', '\u001b[?2004h$ '],
      [1749, 'output', 'ls\r\n'],
      [1999, 'size', '100x30'],
      [3999, 'mark', ''],
    ])
  })

  const firstVersion = `{
    "version": 1, "width": 80, "height": 24, "duration": 1.515658, "command": "/bin/zsh", "title": "[old]",
    "env": {"TERM": "xterm-256color", "SHELL": "/bin/zsh"},
    "stdout": [
      [0.248848, "\\u001b[1;31mHello \\"W]\\"\\u001b[32m\\n"],
      [1.001376, "That was ok\\rThis is better."],
      [0.25, ", too"]
    ]
  }`

  it('of version 1 is one document with relative times', () => {
    const cast = parseCast(firstVersion)
    expect(cast).toMatchObject({ cols: 80, rows: 24, title: '[old]', skippedEvents: 0 })
    expect(cast.events.map(({ atMs, data }) => [Math.round(atMs), data])).toEqual([
      [249, '\u001b[1;31mHello "W]"\u001b[32m\n'],
      [1250, 'That was ok\rThis is better.'],
      [1500, ', too'],
    ])
  })

  it('of version 1 plays up to the point where the file was cut off', () => {
    const whole = parseCast(firstVersion)
    const cut = parseCast(firstVersion.slice(0, firstVersion.indexOf(', too')))
    expect(cut).toEqual({ ...whole, events: whole.events.slice(0, 2), skippedEvents: 1 })
    expect(parseCast(firstVersion.slice(0, firstVersion.indexOf('"env"')))).toMatchObject({
      events: [],
      skippedEvents: 1,
    })
  })

  it('tolerates a truncated file and counts the rest', () => {
    const { events, skippedEvents } = parseCast(`${header}\n[0,"o","a"]\nrubbish\n[1,"o",7]\n[1,"o","b"]\n[2,"o","c`)
    expect(events.map(({ data }) => data)).toEqual(['a', 'b'])
    expect(skippedEvents).toBe(3)
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
