import { serviceNow } from '#lib/client/clock.ts'
import type { Alert } from '#lib/protocol/alerts.ts'
import { alarmOf } from './alert-feed.ts'

/** Alarms that this tab tried to claim, by account. */
const claimed = new Map<string, ReadonlySet<string>>()
const maxStored = 20_000

/** Claims the alarms, or other announcements by their key, that no tab has claimed yet. Without storage every tab announces every alarm. */
export const claimAlarms = async (
  alerts: readonly Alert[],
  account: string,
  keyOf: (alert: Alert) => string = alarmOf,
): Promise<Alert[]> => {
  const before = claimed.get(account) ?? new Set()
  const unclaimed = alerts.filter((alert) => !before.has(keyOf(alert)))
  if (unclaimed.length === 0) return []
  const alarms = new Set(unclaimed.map(keyOf))
  claimed.set(account, before.union(alarms))
  try {
    return await withAnnounced(async (store) => {
      const stored = new Set<string>((await resultOf(store.get(account))) ?? [])
      store.put([...stored.union(alarms)].slice(-maxStored), account)
      return unclaimed.filter((alert) => !stored.has(keyOf(alert)))
    })
  } catch {
    return unclaimed
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
