import { serviceNow } from '#lib/client/clock.ts'
import type { Alert } from '#lib/protocol/alerts.ts'
import { alarmOf } from './alert-feed.ts'

/** Shared by the tabs of a browser, per account. */
interface Claims {
  alarms: string[]
  /** The tab that announced last, and when. */
  tab: string
  atMs: number
}

export const toastMs = 30_000
/** A hidden tab waits this long for a visible one to announce first. */
export const takeoverMs = 1_500

const tab = `${Math.random()}`
/** Time in which only the tab that shows the toast may add further alarms to it. */
const growMs = 5_000
const maxStored = 20_000

/** When this tab first saw an alarm, or undefined once one of the tabs has claimed it. */
const seen = new Map<string, number | undefined>()

/**
 * Claims the alarms, or other announcements by their key, that no tab has claimed yet. While another tab's toast of
 * `shownMs` is shown, new ones are left to that tab for `waitMs`. Without storage every tab announces every alarm.
 */
export const claimAlarms = async (
  alerts: readonly Alert[],
  account: string,
  { shownMs = 0, keyOf = alarmOf }: { shownMs?: number; keyOf?: (alert: Alert) => string },
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
      const isShownElsewhere = before !== undefined && before.tab !== tab && nowMs - before.atMs < shownMs
      const isLeft = (alert: Alert) => isShownElsewhere && nowMs - (seen.get(seenKey(alert)) ?? nowMs) < growMs
      const fresh = unclaimed.filter((alert) => !stored.has(keyOf(alert)))
      const left = new Set(fresh.filter(isLeft))
      const claimed = fresh.filter((alert) => !left.has(alert))
      forget(unclaimed.filter((alert) => !left.has(alert)))
      if (claimed.length > 0) {
        const alarms = [...stored, ...claimed.map(keyOf)].slice(-maxStored)
        store.put({ alarms, tab, atMs: nowMs } satisfies Claims, account)
      }
      return { alerts: claimed, ...(left.size > 0 && { waitMs: growMs }) }
    })
  } catch {
    forget(unclaimed)
    return { alerts: unclaimed }
  }
}

/** Claims the announcement of the console's outage, unless one was made since the console was last reached. */
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
