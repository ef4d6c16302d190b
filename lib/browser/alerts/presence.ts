const visibleLock = 'devdeck-visible'

/**
 * Holds a shared lock for as long as this tab is looked at, so that a hidden one leaves what it would announce to it.
 * Until `signal` aborts.
 */
export const showPresence = (signal: AbortSignal): void => {
  let leaving: AbortController | undefined
  const look = () => {
    leaving?.abort()
    if (document.visibilityState !== 'visible' || signal.aborted) return
    const current = new AbortController()
    leaving = current
    navigator.locks
      ?.request(visibleLock, { mode: 'shared', signal: current.signal }, () =>
        current.signal.aborted
          ? undefined
          : new Promise<void>((resolve) => current.signal.addEventListener('abort', () => resolve())),
      )
      .catch(() => undefined)
  }
  document.addEventListener('visibilitychange', look, { signal })
  signal.addEventListener('abort', look)
  look()
}

/** Whether another tab of this browser is looked at while this one is not. */
export const isAnotherTabVisible = async (): Promise<boolean> => {
  if (document.visibilityState === 'visible') return false
  const { held = [] } = (await navigator.locks?.query()) ?? {}
  return held.some(({ name }) => name === visibleLock)
}
