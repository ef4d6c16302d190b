import { namedAccount, watchAccount } from './page-account.ts'

/**
 * What the console's server says of the session this page was drawn for: it is, it is over, or the browser is on another
 * account, of which the page takes note. While the server says nothing, the session stands.
 */
export const sessionState = async (): Promise<'signed-in' | 'signed-out' | 'other-account'> => {
  const answer = await fetch('/api/session', { cache: 'no-store', headers: namedAccount() }).catch(() => undefined)
  if (answer) watchAccount(answer)
  if (answer?.status === 401) return 'signed-out'
  return answer?.status === 409 ? 'other-account' : 'signed-in'
}

export const isSignedOut = async (): Promise<boolean> => (await sessionState()) === 'signed-out'
