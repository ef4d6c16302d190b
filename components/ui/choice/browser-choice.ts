import { useSyncExternalStore } from 'react'

/** A preference stored in a data attribute of the root element, which the server renders from a cookie. Empty if unset. */
export type BrowserChoice = 'density' | 'letters' | 'theme' | 'timeZone'

export const chosen = (name: BrowserChoice): string =>
  typeof document === 'undefined' ? '' : (document.documentElement.dataset[name] ?? '')

export const showChoice = (name: BrowserChoice, value: string): void => {
  if (value === '') delete document.documentElement.dataset[name]
  else document.documentElement.dataset[name] = value
  for (const listener of listeners) listener()
  // Layout code measures again on resize.
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

export const hasLetterKeys = (): boolean => chosen('letters') !== 'off'
