import { accountHeader } from '#lib/protocol/session.ts'

/** The account this page was rendered for. Requests name it, so that they fail if another account has signed in since. */
let pageAccount: string | undefined
let hasChanged = false
const listeners = new Set<() => void>()

/** Only the first call counts: another account needs a new page load. */
export const setPageAccount = (id: string): void => {
  if (typeof window !== 'undefined') pageAccount ??= encodeURIComponent(id)
}

export const pageAccountId = (): string | undefined => pageAccount

export const isPageAccount = (id: string): boolean =>
  pageAccount === undefined || pageAccount === encodeURIComponent(id)

export const accountHeaders = (): Record<string, string> =>
  pageAccount === undefined ? {} : { [accountHeader]: pageAccount }

/** Adds the account to a WebSocket URL, since WebSockets can't send headers. */
export const withAccount = (url: string): string =>
  pageAccount === undefined ? url : `${url}?${new URLSearchParams({ account: pageAccount })}`

/** Notices a response that the console refused because the cookie belongs to another account. */
export const detectAccountChange = (response: Response): Response => {
  if (response.status === 409 && response.headers.has(accountHeader)) setAccountChanged(true)
  return response
}

export const setAccountChanged = (changed: boolean): void => {
  if (hasChanged === changed) return
  hasChanged = changed
  for (const listener of listeners) listener()
}

/** Whether the browser is signed in to another account. For useSyncExternalStore. */
export const accountChange = {
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  getSnapshot: (): boolean => hasChanged,
}

/** The state of this page's session. Counts as signed in while the console is unreachable. */
export const sessionState = async (): Promise<'signed-in' | 'signed-out' | 'other-account'> => {
  const response = await fetch('/api/session', { cache: 'no-store', headers: accountHeaders() }).catch(() => undefined)
  if (response) detectAccountChange(response)
  if (response?.status === 401) return 'signed-out'
  return response?.status === 409 ? 'other-account' : 'signed-in'
}

export const isSignedOut = async (): Promise<boolean> => (await sessionState()) === 'signed-out'
