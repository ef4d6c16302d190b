import { afterEach, expect, it, vi } from 'vitest'
import { ApiError } from '#lib/client/api-error.ts'
import { asksAgainInMs, mayAsk } from './failures.ts'

afterEach(() => void vi.restoreAllMocks())

const failed = (status: number, code: string, retryAfterMs?: number) =>
  new ApiError(code, status, 'x', retryAfterMs === undefined ? {} : { retryAfterMs })

it('asks again soon while the service is away, and never when that cannot help', () => {
  expect(asksAgainInMs(failed(0, 'unreachable'))).toBe(3_000)
  expect(asksAgainInMs(failed(503, 'unavailable'))).toBe(3_000)
  for (const error of [failed(400, 'invalid_argument'), failed(404, 'not_found'), failed(500, 'internal'), new Error()])
    expect(asksAgainInMs(error)).toBe(false)
})

it('asks again no sooner than the service wants', () => {
  const now = vi.spyOn(Date, 'now').mockReturnValue(1_000)
  const [limited, away] = [failed(429, 'rate_limited', 20_000), failed(503, 'unavailable', 20_000)]
  expect([limited, away].map(asksAgainInMs)).toEqual([20_000, 20_000])
  expect(asksAgainInMs(failed(429, 'rate_limited', 0))).toBe(3_000)
  expect(mayAsk({ state: { error: limited } })).toBe(false)
  // What is looked at anew meanwhile waits for the rest alone.
  now.mockReturnValue(20_500)
  expect([limited, away].map(asksAgainInMs)).toEqual([500, 500])
  now.mockReturnValue(21_000)
  expect(mayAsk({ state: { error: limited } })).toBe(true)
})
