import { useSyncExternalStore } from 'react'

/**
 * What was chosen in this browser's settings, as the root of the document holds it: `compact`, `off`, the name of a
 * time zone; empty where nothing was. The server draws it there from cookies.
 */
export type BrowserChoice = 'density' | 'letters' | 'timeZone'

export const chosen = (name: BrowserChoice): string =>
  typeof document === 'undefined' ? '' : (document.documentElement.dataset[name] ?? '')

export const showChoice = (name: BrowserChoice, value: string): void => {
  if (value === '') delete document.documentElement.dataset[name]
  else document.documentElement.dataset[name] = value
  for (const listener of listeners) listener()
  // Whatever measures itself by the size of the window measures itself by this, too.
  dispatchEvent(new Event('resize'))
}

export const useChoice = (name: BrowserChoice): string =>
  useSyncExternalStore(
    subscribe,
    () => chosen(name),
    () => '',
  )

const listeners = new Set<() => void>()
const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Whether a key without Ctrl or Alt may do something outside of fields and terminals. */
export const hasLetterKeys = (): boolean => chosen('letters') !== 'off'
