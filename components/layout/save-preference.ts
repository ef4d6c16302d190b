'use client'
import { preferenceCookie, preferenceCookies } from '#lib/browser/frame/preferences.ts'

type Preference = keyof typeof preferenceCookies

/** Preferences that change how the whole page is rendered. */
const pagePreferences = ['theme', 'timeZone', 'density', 'letters'] as const

const known: Partial<Record<Preference, string>> = {}

/** Saves a preference in a cookie, so that the server renders the next page with it. */
export const savePreference = (name: Preference, value: string): void => {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API needs a secure context, which plain http on another host is not
  document.cookie = preferenceCookie(name, value)
  known[name] = currentCookie(name)
}

export const hasChangedElsewhere = (): boolean =>
  pagePreferences.some((name) => {
    known[name] ??= currentCookie(name)
    return known[name] !== currentCookie(name)
  })

const currentCookie = (name: Preference): string =>
  document.cookie.split('; ').find((each) => each.startsWith(`${preferenceCookies[name]}=`)) ?? ''
