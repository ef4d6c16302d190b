import { expect, it } from 'vitest'
import { commandEvents, evictionEvents, fitted, stateEvents, statisticsOf, textOf, windowOf } from './usage-window.ts'

const minute = 60_000
const all = { fromMs: 0, toMs: 120 * minute }

it.each([
  ['', all],
  ['15m', { fromMs: 105 * minute, toMs: 120 * minute }],
  ['6h', all],
  [`${10 * minute}-${20 * minute}`, { fromMs: 10 * minute, toMs: 20 * minute }],
  // Outside of the data, too short, or nonsense.
  [`${110 * minute}-${130 * minute}`, { fromMs: 100 * minute, toMs: 120 * minute }],
  [`${10 * minute}-${10 * minute + 1}`, { fromMs: 10 * minute, toMs: 11 * minute }],
  ['20-10', all],
  ['constructor', all],
])('%s shows the right time', (text, window) => {
  expect(windowOf(text, all)).toEqual(window)
})

it('a chosen window survives the address', () => {
  const window = { fromMs: 3 * minute, toMs: 7 * minute }
  expect(windowOf(textOf(window), all)).toEqual(window)
})

it('a window is never wider than the data', () => {
  expect(fitted({ fromMs: -5 * minute, toMs: 500 * minute }, all)).toEqual(all)
  const short = { fromMs: 0, toMs: 1000 }
  expect(fitted({ fromMs: 200, toMs: 300 }, short)).toEqual(short)
})

it('mean, 95th percentile and maximum of equally spaced samples', () => {
  const values = Array.from({ length: 20 }, (_, at) => 20 - at)
  expect(statisticsOf(values)).toEqual({ mean: 10.5, p95: 19, max: 20 })
  expect(statisticsOf([3])).toEqual({ mean: 3, p95: 3, max: 3 })
  expect(statisticsOf([])).toBeUndefined()
})

it('an eviction is an event when it is announced, and at its deadline if it suspended the devbox', () => {
  const eviction = { kind: 'eviction', first_heard_ms: 1, deadline_ms: 9 } as const
  expect(evictionEvents([{ ...eviction, state: 'ended' }])).toEqual([
    { atMs: 1, kind: 'eviction', label: 'Eviction announced' },
    { atMs: 9, kind: 'eviction', label: 'Evicted' },
  ])
  expect(evictionEvents([{ ...eviction, state: 'cancelled' }])).toHaveLength(1)
  expect(evictionEvents([{ ...eviction, kind: 'failure', state: 'ended' }])).toEqual([])
})

it('states, commands and exits are events', () => {
  const state_transitions = [{ status: 'running', transition_time_ms: 1 }, { status: 'paused' }]
  expect(stateEvents({ state_transitions } as never)).toEqual([{ atMs: 1, kind: 'state', label: 'running' }])
  const record = { level: 'info', source: 'exec', cmd_id: 'a' }
  expect(
    commandEvents([
      { ...record, timestamp_ms: 2, cmd: 'make\nmake test' },
      { ...record, timestamp_ms: 3, message: 'output' },
      { ...record, timestamp_ms: 4, exit_code: 2 },
    ]),
  ).toEqual([
    { atMs: 2, kind: 'command', label: '$ make' },
    { atMs: 4, kind: 'exit', label: 'Exit 2' },
  ])
})
