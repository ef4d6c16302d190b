import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, expect, it, vi } from 'vitest'
import { ApiError } from '#lib/client/api-error.ts'
import { ErrorState, InlineError } from './error-state.tsx'
import { LiveState } from './live-badge.tsx'

afterEach(() => void vi.restoreAllMocks())

const limited = () => new ApiError('rate_limited', 429, 'Too many calls', { retryAfterMs: 20_000 })
const query = { isFetching: false, refetch: () => undefined }
const wordsOf = (markup: string) => markup.replace(/<[^>]*>/g, '')

it('counts down to when the service may be asked again, and does not ask before', () => {
  const now = vi.spyOn(Date, 'now').mockReturnValue(1_000)
  const error = limited()
  const draw = () => renderToStaticMarkup(<ErrorState title="Axons could not be loaded" error={error} query={query} />)
  expect(wordsOf(draw())).toContain('The service asks to wait. This is tried again by itself in 20 s.')
  expect(draw()).toMatch(/<button[^>]* aria-disabled="true"[^>]*>.*: The service asks to wait</)
  now.mockReturnValue(18_500)
  expect(wordsOf(draw())).toContain('by itself in 3 s.')
  now.mockReturnValue(21_000)
  expect(wordsOf(draw())).not.toContain('asks to wait')
  expect(draw()).not.toContain('aria-disabled="true"')
})

it('counts down beside what was not done, and beside a stream', () => {
  vi.spyOn(Date, 'now').mockReturnValue(1_000)
  expect(wordsOf(renderToStaticMarkup(<InlineError error={limited()} />))).toContain('It can be tried again in 20 s.')
  const health = { state: 'lost', sinceMs: 0, error: limited() } as const
  expect(wordsOf(renderToStaticMarkup(<LiveState health={health} what="the log" />))).toContain('tried again in 20 s.')
})
