import type { Alert } from '#lib/protocol/alerts.ts'
import { alarmOf } from './alert-feed.ts'

// Decides which of a browser's tabs announces an alarm: a visible one, and only one.

const visibleLock = 'devdeck-visible'

/** Holds a shared lock while this tab is visible, until `signal` aborts. */
export const holdVisibleLock = (signal: AbortSignal): void => {
  let releasing: AbortController | undefined
  const update = () => {
    releasing?.abort()
    if (document.visibilityState !== 'visible' || signal.aborted) return
    const current = new AbortController()
    releasing = current
    navigator.locks
      ?.request(visibleLock, { mode: 'shared', signal: current.signal }, () =>
        current.signal.aborted
          ? undefined
          : new Promise<void>((resolve) => current.signal.addEventListener('abort', () => resolve())),
      )
      .catch(() => undefined)
  }
  document.addEventListener('visibilitychange', update, { signal })
  signal.addEventListener('abort', update)
  update()
}

export const isOnlyAnotherTabVisible = async (): Promise<boolean> => {
  if (document.visibilityState === 'visible') return false
  const { held = [] } = (await navigator.locks?.query()) ?? {}
  return held.some(({ name }) => name === visibleLock)
}

const lastAnnouncedKey = (account: string) => `devdeck.last-announced ${account}`
let lastAnnouncedHereMs = 0

/** When any tab of this browser last announced an alarm; 0 if none did. */
export const lastAnnouncedMs = (account: string): number => {
  try {
    return Number(localStorage.getItem(lastAnnouncedKey(account)) ?? lastAnnouncedHereMs)
  } catch {
    return lastAnnouncedHereMs
  }
}

export const setLastAnnounced = (account: string, nowMs: number): void => {
  lastAnnouncedHereMs = nowMs
  try {
    localStorage.setItem(lastAnnouncedKey(account), String(nowMs))
  } catch {
    // Storage is full or disabled; each tab then keeps its own time.
  }
}

const databaseName = 'devdeck-alerts'
const storeName = 'announced'
const claimLifetimeMs = 7 * 24 * 3_600_000
const claimedHere = new Set<string>()

const resultOf = <Result>(request: IDBRequest<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

/**
 * Returns the alerts whose latest alarm no tab has claimed yet, and claims them for this tab. IndexedDB transactions are
 * serialized across tabs, so each alarm has one owner. Without storage every tab announces every alarm.
 */
export const claimAlarms = async (alerts: readonly Alert[], account: string): Promise<Alert[]> => {
  const nowMs = Date.now()
  const keyOf = (alert: Alert) => `${account} ${alarmOf(alert)}`
  const unclaimed = alerts.filter((alert) => !claimedHere.has(keyOf(alert)))
  for (const alert of unclaimed) claimedHere.add(keyOf(alert))
  if (unclaimed.length === 0) return []
  try {
    const opening = indexedDB.open(databaseName, 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore(storeName)
    const database = await resultOf(opening)
    try {
      const store = database.transaction(storeName, 'readwrite').objectStore(storeName)
      const claimed: Alert[] = []
      for (const alert of unclaimed) {
        if ((await resultOf(store.get(keyOf(alert)))) !== undefined) continue
        store.put(nowMs, keyOf(alert))
        claimed.push(alert)
      }
      for (const key of await resultOf(store.getAllKeys()))
        if ((await resultOf(store.get(key))) < nowMs - claimLifetimeMs) store.delete(key)
      return claimed
    } finally {
      database.close()
    }
  } catch {
    return unclaimed
  }
}
