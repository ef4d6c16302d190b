import { serviceNow } from '#lib/client/clock.ts'
import type { Alert } from '#lib/protocol/alerts.ts'
import { alarmOf } from './alert-feed.ts'

/** What the tabs of a browser share, per account. */
interface Claims {
  alarms: string[]
  /** The tab that announced last, and when. */
  tab: string
  atMs: number
}

const tab = `${Math.random()}`
/** A tab whose toast is shown has this much time to add further alarms to it. */
const firstSayMs = 5_000
const maxStored = 20_000

/** When this tab first saw an alarm, or undefined once one of the tabs has claimed it. */
const seen = new Map<string, number | undefined>()

/**
 * Claims the alarms, or other announcements by their key, that no tab has claimed yet. While another tab's toast of
 * `toastMs` is shown, new ones are left to that tab for `waitMs`. Without storage every tab announces every alarm.
 */
export const claimAlarms = async (
  alerts: readonly Alert[],
  account: string,
  { toastMs = 0, keyOf = alarmOf }: { toastMs?: number; keyOf?: (alert: Alert) => string },
): Promise<{ alerts: Alert[]; waitMs?: number }> => {
  const nowMs = serviceNow()
  const seenKey = (alert: Alert) => `${account} ${keyOf(alert)}`
  for (const alert of alerts) if (!seen.has(seenKey(alert))) seen.set(seenKey(alert), nowMs)
  const unclaimed = alerts.filter((alert) => seen.get(seenKey(alert)) !== undefined)
  if (unclaimed.length === 0) return { alerts: [] }
  const forget = (claimed: readonly Alert[]) => {
    for (const alert of claimed) seen.set(seenKey(alert), undefined)
  }
  try {
    return await withAnnounced(async (store) => {
      const before: Claims | undefined = await resultOf(store.get(account))
      const stored = new Set(before?.alarms)
      const isShownElsewhere = before !== undefined && before.tab !== tab && nowMs - before.atMs < toastMs
      const isLeft = (alert: Alert) => isShownElsewhere && nowMs - (seen.get(seenKey(alert)) ?? nowMs) < firstSayMs
      const fresh = unclaimed.filter((alert) => !stored.has(keyOf(alert)))
      const left = new Set(fresh.filter(isLeft))
      const claimed = fresh.filter((alert) => !left.has(alert))
      forget(unclaimed.filter((alert) => !left.has(alert)))
      if (claimed.length > 0) {
        const alarms = [...stored, ...claimed.map(keyOf)].slice(-maxStored)
        store.put({ alarms, tab, atMs: nowMs } satisfies Claims, account)
      }
      return { alerts: claimed, ...(left.size > 0 && { waitMs: firstSayMs }) }
    })
  } catch {
    forget(unclaimed)
    return { alerts: unclaimed }
  }
}

/** Claims the announcement of the console's outage. Any made since it was last reached was of the same outage. */
export const claimOutage = async (reachedMs: number, account: string): Promise<boolean> => {
  try {
    return await withAnnounced(async (store) => {
      const key = `${account} outage`
      const announcedMs: number | undefined = await resultOf(store.get(key))
      if (announcedMs !== undefined && announcedMs >= reachedMs) return false
      store.put(serviceNow(), key)
      return true
    })
  } catch {
    return true
  }
}

const withAnnounced = async <Result>(act: (store: IDBObjectStore) => Promise<Result>): Promise<Result> => {
  const opening = indexedDB.open('devdeck-alerts', 1)
  opening.onupgradeneeded = () => opening.result.createObjectStore('announced')
  const database = await resultOf(opening)
  try {
    return await act(database.transaction('announced', 'readwrite').objectStore('announced'))
  } finally {
    database.close()
  }
}

const resultOf = <Result>(request: IDBRequest<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
