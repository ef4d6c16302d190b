import { describe, expect, it } from 'vitest'
import type { AxonEvent } from '#lib/contract/axons.ts'
import { gapsIn, logRows, mergeEvents, newSince, noEventFilter, readPayload, toLines } from './event-rows.ts'

const event = (sequence: number, part: Partial<AxonEvent> = {}): AxonEvent => ({
  axon_id: 'axn_1',
  sequence,
  timestamp_ms: 0,
  origin: 'USER_EVENT',
  source: 'console',
  event_type: 'note',
  payload: '{}',
  ...part,
})
const events = (...sequences: number[]) => sequences.map((sequence) => event(sequence))
const sequences = (list: readonly AxonEvent[]) => list.map(({ sequence }) => sequence)

describe('mergeEvents', () => {
  it('merges in order without duplicates', () => {
    expect(sequences(mergeEvents(events(1, 2), events(3)))).toEqual([1, 2, 3])
    expect(sequences(mergeEvents(events(1, 5), events(2, 3, 5)))).toEqual([1, 2, 3, 5])
    expect(sequences(mergeEvents([], events(4)))).toEqual([4])
  })
})

describe('gaps', () => {
  it('have a start and an end, and none precedes the first event', () => {
    expect(gapsIn(events(3, 4, 6, 10))).toEqual([
      { from: 5, to: 5 },
      { from: 7, to: 9 },
    ])
    expect(gapsIn(events(100))).toEqual([])
  })

  it('are shown whatever the filter', () => {
    const list = [event(1, { event_type: 'a' }), event(2, { event_type: 'b' }), event(4, { event_type: 'b' })]
    expect(logRows(list, { ...noEventFilter, type: 'a' }).map(({ kind }) => kind)).toEqual(['event', 'gap'])
    expect(logRows(list, { ...noEventFilter, type: 'B' })).toEqual([
      { kind: 'event', event: list[1] },
      { kind: 'gap', gap: { from: 3, to: 3 } },
      { kind: 'event', event: list[2] },
    ])
  })
})

it('filters by origin, type, source and payload', () => {
  const list = [event(1), event(2, { origin: 'AGENT_EVENT' }), event(3, { source: 'CI' })]
  const shown = (part: Partial<typeof noEventFilter>) =>
    logRows(list, { ...noEventFilter, ...part }).flatMap((row) => (row.kind === 'event' ? row.event.sequence : []))
  expect(shown({})).toEqual([1, 2, 3])
  expect(shown({ origin: 'USER_EVENT' })).toEqual([1, 3])
  expect(shown({ origin: 'USER_EVENT', source: 'ci' })).toEqual([3])
  expect(shown({ payload: '{' })).toEqual([1, 2, 3])
  expect(shown({ payload: 'x' })).toEqual([])
})

describe('newSince', () => {
  const rows = (...list: number[]) => logRows(events(...list), noEventFilter)

  it('counts the new events that match the filter', () => {
    expect(newSince(2, rows(1, 2, 3, 4))).toBe(2)
    const list = [event(1), event(2, { origin: 'AGENT_EVENT' }), event(3)]
    expect(newSince(1, logRows(list, { ...noEventFilter, origin: 'USER_EVENT' }))).toBe(1)
  })
})

describe('readPayload', () => {
  it('distinguishes JSON from text', () => {
    expect(readPayload('{"a":[1]}')).toEqual({ kind: 'json', value: { a: [1] } })
    expect(readPayload('"text"')).toEqual({ kind: 'json', value: 'text' })
    expect(readPayload('{a:1}')).toEqual({ kind: 'text', text: '{a:1}' })
    expect(readPayload('')).toEqual({ kind: 'text', text: '' })
  })

  it('keeps numbers that JavaScript cannot represent', () => {
    const payload = '{"id":12345678901234567890,"price":1.10,"plain":7}'
    const read = readPayload(payload)
    expect(JSON.stringify(read.kind === 'json' && read.value)).toBe(payload)
  })
})

it('writes one event per line with line breaks escaped', () => {
  const list = [event(1, { payload: 'a\nb' }), event(2)]
  const lines = toLines(list).split('\n')
  expect(lines).toHaveLength(3)
  expect(lines.slice(0, 2).map((line) => JSON.parse(line))).toEqual(list)
})
