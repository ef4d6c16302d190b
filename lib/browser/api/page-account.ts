import { accountHeader } from '#lib/protocol/session.ts'

/**
 * The account this page was drawn for. Every call names it, so that none acts for another account that was signed in to
 * elsewhere in the browser meanwhile.
 */
let own: string | undefined
let isOther = false
const listeners = new Set<() => void>()

/** The first account that is drawn is the page's own: to change it takes a new load of the page. */
export const drawnFor = (id: string): void => {
  if (typeof window !== 'undefined') own ??= encodeURIComponent(id)
}

export const isPageOf = (id: string): boolean => own === undefined || own === encodeURIComponent(id)

export const namedAccount = (): Record<string, string> => (own === undefined ? {} : { [accountHeader]: own })

/** The address of a WebSocket, which cannot have headers. */
export const withAccount = (address: string): string =>
  own === undefined ? address : `${address}?${new URLSearchParams({ account: own })}`

/** Takes note when the console refuses an answer because the browser's cookie is another account's. */
export const watchAccount = (response: Response): Response => {
  if (response.status === 409 && response.headers.has(accountHeader)) setOther(true)
  return response
}

export const setOther = (to: boolean): void => {
  if (isOther === to) return
  isOther = to
  for (const listener of listeners) listener()
}

/** Whether the browser is signed in to another account than the page's. Made for useSyncExternalStore. */
export const accountChange = {
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  getSnapshot: (): boolean => isOther,
}
