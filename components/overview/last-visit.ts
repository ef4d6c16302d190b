'use client'
import { useEffect, useState } from 'react'
import { browserStore } from '#lib/browser/frame/saved-list.ts'
import { serviceNow } from '#lib/client/clock.ts'

/** When this browser last showed the overview of an account, and what it counted from then. */
export interface Visit {
  /** End of the previous visit; null for the first one. */
  since_ms: number | null
  seen_ms: number
}

/** A return within this time continues a visit, so that opening a row and going back loses nothing. */
const sameVisitMs = 30 * 60_000
/** A page that was visible this long has been seen. */
const seenAfterMs = 60_000

export const nextVisit = (previous: Visit | undefined, nowMs: number): Visit => {
  const isSame = previous !== undefined && nowMs - previous.seen_ms < sameVisitMs
  return { since_ms: isSame ? previous.since_ms : (previous?.seen_ms ?? null), seen_ms: nowMs }
}

/** Undefined until the browser has read it. */
export const useLastVisit = (account: string): Pick<Visit, 'since_ms'> | undefined => {
  const [visit, setVisit] = useState<Visit>()
  useEffect(() => {
    const key = `devdeck.last-look.${account}`
    let current: Visit | undefined
    const markSeen = () => {
      if (current) browserStore()?.setItem(key, JSON.stringify({ ...current, seen_ms: serviceNow() }))
    }
    const start = () => {
      current = nextVisit(parse(browserStore()?.getItem(key)), serviceNow())
      setVisit(current)
    }
    const onVisibility = () => {
      if (document.visibilityState === 'visible') start()
      else {
        markSeen()
        current = undefined
      }
    }
    onVisibility()
    const timer = setInterval(markSeen, seenAfterMs)
    document.addEventListener('visibilitychange', onVisibility)
    addEventListener('pagehide', markSeen)
    return () => {
      markSeen()
      clearInterval(timer)
      document.removeEventListener('visibilitychange', onVisibility)
      removeEventListener('pagehide', markSeen)
    }
  }, [account])
  return visit
}

const parse = (text: string | null | undefined): Visit | undefined => {
  try {
    const { since_ms, seen_ms } = JSON.parse(text ?? '{}') as Record<string, unknown>
    return typeof seen_ms === 'number'
      ? { since_ms: typeof since_ms === 'number' ? since_ms : null, seen_ms }
      : undefined
  } catch {
    return undefined
  }
}
