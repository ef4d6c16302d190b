import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, expect, it, vi } from 'vitest'
import { ApiError } from '#lib/client/api-error.ts'
import { ErrorState, InlineError } from './error-state.tsx'
import { LiveState } from './live-badge.tsx'

afterEach(() => void vi.restoreAllMocks())

const limited = () => new ApiError('rate_limited', 429, 'Too many calls', { retryAfterMs: 20_000 })
const query = { isFetching: false, refetch: () => undefined }
const textOf = (markup: string) => markup.replace(/<[^>]*>/g, '')

it('counts down to the next retry and disables the button until then', () => {
  const now = vi.spyOn(Date, 'now').mockReturnValue(1_000)
  const error = limited()
  const html = () => renderToStaticMarkup(<ErrorState title="Couldn't load axons" error={error} query={query} />)
  expect(textOf(html())).toContain('The service is limiting requests. Retrying in 20 s.')
  expect(html()).toMatch(/<button[^>]* aria-disabled="true"[^>]*>.*: the service is limiting requests</)
  now.mockReturnValue(18_500)
  expect(textOf(html())).toContain('Retrying in 3 s.')
  now.mockReturnValue(21_000)
  expect(textOf(html())).not.toContain('limiting requests')
  expect(html()).not.toContain('aria-disabled="true"')
})

it('counts down inline and next to a stream', () => {
  vi.spyOn(Date, 'now').mockReturnValue(1_000)
  expect(textOf(renderToStaticMarkup(<InlineError error={limited()} />))).toContain('Try again in 20 s.')
  const health = { state: 'lost', sinceMs: 0, error: limited() } as const
  expect(textOf(renderToStaticMarkup(<LiveState health={health} what="the log" />))).toContain('Retrying in 20 s.')
})
