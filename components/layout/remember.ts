'use client'
import { preferenceCookie, preferenceCookies } from '#lib/browser/frame/preferences.ts'

type Preference = keyof typeof preferenceCookies

/** What the whole of a page is drawn by. */
const choices = ['theme', 'timeZone', 'density', 'letters'] as const

/** What this tab knows of them: as they were on its first page, or as it chose them itself since. */
const known: Partial<Record<Preference, string>> = {}

/** Keeps a choice of the frame for the next page the server draws. */
export const remember = (name: Preference, value: string): void => {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API needs a secure context, which plain http on another host is not
  document.cookie = preferenceCookie(name, value)
  known[name] = kept(name)
}

/** Whether another tab chose one of them anew. */
export const isChosenElsewhere = (): boolean =>
  choices.some((name) => {
    known[name] ??= kept(name)
    return known[name] !== kept(name)
  })

const kept = (name: Preference): string =>
  document.cookie.split('; ').find((each) => each.startsWith(`${preferenceCookies[name]}=`)) ?? ''
