'use client'
import { preferenceCookie, preferenceCookies } from '#lib/console/frame/preferences.ts'

/** Keeps a choice of the frame for the next page the server draws. */
export const remember = (name: keyof typeof preferenceCookies, value: string): void => {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API needs a secure context, which plain http on another host is not
  document.cookie = preferenceCookie(name, value)
}

/** What is kept of it now, by whichever tab. */
export const remembered = (name: keyof typeof preferenceCookies): string =>
  document.cookie
    .split('; ')
    .find((each) => each.startsWith(`${preferenceCookies[name]}=`))
    ?.slice(preferenceCookies[name].length + 1) ?? ''
