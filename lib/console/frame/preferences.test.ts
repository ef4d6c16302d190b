import { expect, it } from 'vitest'
import { preferenceCookie, themeOf } from './preferences.ts'

it('follows the system unless a known theme was chosen', () => {
  expect([undefined, 'dark', 'light', 'system', 'neon'].map(themeOf)).toEqual([
    'system',
    'dark',
    'light',
    'system',
    'system',
  ])
})

it('remembers choices for a year and a dismissed notice for the browser session', () => {
  expect(preferenceCookie('theme', 'dark')).toBe('devdeck_theme=dark; path=/; samesite=lax; max-age=31536000')
  expect(preferenceCookie('isolationNotice', 'seen')).toBe('devdeck_isolation_notice=seen; path=/; samesite=lax')
})
