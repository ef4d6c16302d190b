import { namedAccount, watchAccount } from './page-account.ts'

/** Whether the console's server says so; while it says nothing, nobody is. */
export const isSignedOut = async (): Promise<boolean> => {
  const answer = await fetch('/api/session', { cache: 'no-store', headers: namedAccount() }).catch(() => undefined)
  if (answer) watchAccount(answer)
  return answer?.status === 401
}
