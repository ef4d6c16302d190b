import { expect, it } from 'vitest'
import { ApiError } from '#lib/client/api-error.ts'
import { asksAgainInMs } from './failures.ts'

const failed = (status: number, code: string, retryAfterMs?: number) =>
  new ApiError(code, status, 'x', retryAfterMs === undefined ? {} : { retryAfterMs })

it('asks again soon while the service is away, and never when that cannot help', () => {
  expect(asksAgainInMs(failed(0, 'unreachable'))).toBe(3_000)
  expect(asksAgainInMs(failed(503, 'unavailable'))).toBe(3_000)
  for (const error of [failed(400, 'invalid_argument'), failed(404, 'not_found'), failed(500, 'internal'), new Error()])
    expect(asksAgainInMs(error)).toBe(false)
})

it('asks again no sooner than the service wants', () => {
  expect(asksAgainInMs(failed(429, 'rate_limited', 20_000))).toBe(20_000)
  expect(asksAgainInMs(failed(503, 'unavailable', 20_000))).toBe(20_000)
  expect(asksAgainInMs(failed(429, 'rate_limited', 0))).toBe(3_000)
})
