/** Whether the console's server says so; while it says nothing, nobody is. */
export const isSignedOut = async (): Promise<boolean> => {
  const answer = await fetch('/api/session', { cache: 'no-store' }).catch(() => undefined)
  return answer?.status === 401
}
