import { afterAll, beforeAll, expect, it } from 'vitest'
import { startConsole, type TestConsole } from '../testing.ts'
import { serviceNow, syncServiceClock } from './clock.ts'

let gateway: TestConsole
beforeAll(async () => {
  gateway = await startConsole({ url: 'http://127.0.0.1:1' })
})
afterAll(() => gateway.close())

const minute = 60_000
const hear = (aheadMs: number, { headers = {}, tookMs = 0 } = {}) => {
  const date = new Date(Date.now() + aheadMs).toUTCString()
  syncServiceClock(new Response(null, { headers: { date, ...headers } }), Date.now() - tookMs)
  return Math.round((serviceNow() - Date.now()) / minute)
}

it('follows a clock that jumps with its next response, unless that is cached or slow', () => {
  expect([hear(0), hear(2 * minute), hear(2 * minute), hear(-2 * minute)]).toEqual([0, 2, 2, -2])
  expect([hear(minute, { headers: { age: '60' } }), hear(minute, { tookMs: 5_000 })]).toEqual([-2, -2])
  expect(hear(0)).toBe(0)
})
