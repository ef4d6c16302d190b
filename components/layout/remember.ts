'use client'
import { preferenceCookie, type preferenceCookies } from '#lib/console/frame/preferences.ts'

/** Keeps a choice of the frame for the next page the server draws. */
export const remember = (name: keyof typeof preferenceCookies, value: string): void => {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API needs a secure context, which plain http on another host is not
  document.cookie = preferenceCookie(name, value)
}
