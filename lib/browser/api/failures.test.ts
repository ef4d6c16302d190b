import { afterEach, expect, it, vi } from 'vitest'
import { ApiError } from '#lib/client/api-error.ts'
import { canRequest, retryDelayMs } from './failures.ts'

afterEach(() => void vi.restoreAllMocks())

const failed = (status: number, code: string, retryAfterMs?: number) =>
  new ApiError(code, status, 'x', retryAfterMs === undefined ? {} : { retryAfterMs })

it('retries during an outage but not after a permanent error', () => {
  expect(retryDelayMs(failed(0, 'unreachable'))).toBe(3_000)
  expect(retryDelayMs(failed(503, 'unavailable'))).toBe(3_000)
  for (const error of [failed(400, 'invalid_argument'), failed(404, 'not_found'), failed(500, 'internal'), new Error()])
    expect(retryDelayMs(error)).toBe(false)
})

it('waits for Retry-After', () => {
  const now = vi.spyOn(Date, 'now').mockReturnValue(1_000)
  const [limited, unavailable] = [failed(429, 'rate_limited', 20_000), failed(503, 'unavailable', 20_000)]
  expect([limited, unavailable].map(retryDelayMs)).toEqual([20_000, 20_000])
  expect(retryDelayMs(failed(429, 'rate_limited', 0))).toBe(3_000)
  expect(canRequest({ state: { error: limited } })).toBe(false)
  // A page opened later waits only for the rest.
  now.mockReturnValue(20_500)
  expect([limited, unavailable].map(retryDelayMs)).toEqual([500, 500])
  now.mockReturnValue(21_000)
  expect(canRequest({ state: { error: limited } })).toBe(true)
})
