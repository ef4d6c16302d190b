import type { Alert } from '#lib/protocol/alerts.ts'
import { alarmOf } from './alert-feed.ts'

/** Which alarms this browser has announced, in all of its tabs. */

const databaseName = 'devdeck-alerts'
const storeName = 'announced'
const keptMs = 7 * 24 * 3_600_000

const request = <Result>(asked: IDBRequest<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    asked.onsuccess = () => resolve(asked.result)
    asked.onerror = () => reject(asked.error)
  })

const open = (): Promise<IDBDatabase> => {
  const opening = indexedDB.open(databaseName, 1)
  opening.onupgradeneeded = () => opening.result.createObjectStore(storeName)
  return request(opening)
}

/**
 * Those of the alerts whose latest alarm no tab of this browser has announced; they are this tab's to announce from now
 * on. A transaction sees what every other tab has written, so an alarm is given to one tab only. A browser that keeps
 * no data gives every tab every alarm once.
 */
export const claimAlarms = async (alerts: readonly Alert[], account: string): Promise<Alert[]> => {
  const nowMs = Date.now()
  const unknown = alerts.filter((alert) => !claimedHere.has(`${account} ${alarmOf(alert)}`))
  for (const alert of unknown) claimedHere.add(`${account} ${alarmOf(alert)}`)
  if (unknown.length === 0) return []
  try {
    const database = await open()
    try {
      const store = database.transaction(storeName, 'readwrite').objectStore(storeName)
      const claimed: Alert[] = []
      for (const alert of unknown) {
        const key = `${account} ${alarmOf(alert)}`
        if ((await request(store.get(key))) !== undefined) continue
        store.put(nowMs, key)
        claimed.push(alert)
      }
      for (const key of await request(store.getAllKeys()))
        if ((await request(store.get(key))) < nowMs - keptMs) store.delete(key)
      return claimed
    } finally {
      database.close()
    }
  } catch {
    return unknown
  }
}

const claimedHere = new Set<string>()
