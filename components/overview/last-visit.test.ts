import { expect, it } from 'vitest'
import { nextVisit } from './last-visit.ts'

const minute = 60_000

it('counts from the end of the previous visit, and continues that on a quick return', () => {
  const first = nextVisit(undefined, 0)
  expect(first).toEqual({ since_ms: null, seen_ms: 0 })
  const second = nextVisit({ ...first, seen_ms: 5 * minute }, 600 * minute)
  expect(second).toEqual({ since_ms: 5 * minute, seen_ms: 600 * minute })
  expect(nextVisit(second, 629 * minute).since_ms).toBe(5 * minute)
  expect(nextVisit(second, 630 * minute).since_ms).toBe(600 * minute)
})
