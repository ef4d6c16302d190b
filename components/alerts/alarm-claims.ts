import type { Alert } from '#lib/protocol/alerts.ts'
import { alarmOf } from './alert-feed.ts'

/** Alarms that this tab tried to claim, by account. */
const claimed = new Map<string, ReadonlySet<string>>()
const maxStored = 20_000

/** Claims the alarms that no tab has claimed yet. Without storage every tab announces every alarm. */
export const claimAlarms = async (alerts: readonly Alert[], account: string): Promise<Alert[]> => {
  const before = claimed.get(account) ?? new Set()
  const unclaimed = alerts.filter((alert) => !before.has(alarmOf(alert)))
  if (unclaimed.length === 0) return []
  const alarms = new Set(unclaimed.map(alarmOf))
  claimed.set(account, before.union(alarms))
  try {
    const opening = indexedDB.open('devdeck-alerts', 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore('announced')
    const database = await resultOf(opening)
    try {
      const store = database.transaction('announced', 'readwrite').objectStore('announced')
      const stored = new Set<string>((await resultOf(store.get(account))) ?? [])
      store.put([...stored.union(alarms)].slice(-maxStored), account)
      return unclaimed.filter((alert) => !stored.has(alarmOf(alert)))
    } finally {
      database.close()
    }
  } catch {
    return unclaimed
  }
}

const resultOf = <Result>(request: IDBRequest<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
