import { expect, it } from 'vitest'
import { preferenceCookie, rootChoices } from './preferences.ts'

it('renders valid preferences and ignores invalid ones', () => {
  const choices = (cookies: Record<string, string>) => rootChoices((name) => cookies[name])
  expect(
    choices({
      devdeck_theme: 'dark',
      devdeck_time_zone: 'Asia/Tokyo',
      devdeck_density: 'compact',
      devdeck_letters: 'off',
    }),
  ).toEqual({
    'data-theme': 'dark',
    'data-time-zone': 'Asia/Tokyo',
    'data-density': 'compact',
    'data-letters': 'off',
  })
  expect(choices({ devdeck_time_zone: 'Moon/Crater', devdeck_density: 'odd', devdeck_theme: 'neon' })).toEqual(
    choices({}),
  )
})

it('saves preferences for a year and a dismissed notice for the session', () => {
  expect(preferenceCookie('theme', 'dark')).toBe('devdeck_theme=dark; path=/; samesite=lax; max-age=31536000')
  expect(preferenceCookie('isolationNotice', 'seen')).toBe('devdeck_isolation_notice=seen; path=/; samesite=lax')
})
