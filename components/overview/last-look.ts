'use client'
import { useEffect, useState } from 'react'
import { browserStore } from '#lib/browser/frame/saved-list.ts'
import { serviceNow } from '#lib/client/clock.ts'

/** When this browser last showed the overview of an account, and what it counted from then. */
export interface Look {
  /** End of the look before; null for the first one. */
  since_ms: number | null
  seen_ms: number
}

/** A return within this time continues a look, so that opening a row and going back loses nothing. */
const sameLookMs = 30 * 60_000
/** A page that was visible this long has been seen. */
const seenAfterMs = 60_000

export const nextLook = (previous: Look | undefined, nowMs: number): Look => {
  const isSame = previous !== undefined && nowMs - previous.seen_ms < sameLookMs
  return { since_ms: isSame ? previous.since_ms : (previous?.seen_ms ?? null), seen_ms: nowMs }
}

/** Undefined until the browser has read it. */
export const useLastLook = (account: string): Pick<Look, 'since_ms'> | undefined => {
  const [look, setLook] = useState<Look>()
  useEffect(() => {
    const key = `devdeck.last-look.${account}`
    let current: Look | undefined
    const markSeen = () => {
      if (current) browserStore()?.setItem(key, JSON.stringify({ ...current, seen_ms: serviceNow() }))
    }
    const start = () => {
      current = nextLook(parse(browserStore()?.getItem(key)), serviceNow())
      setLook(current)
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
  return look
}

const parse = (text: string | null | undefined): Look | undefined => {
  try {
    const { since_ms, seen_ms } = JSON.parse(text ?? '{}') as Record<string, unknown>
    return typeof seen_ms === 'number'
      ? { since_ms: typeof since_ms === 'number' ? since_ms : null, seen_ms }
      : undefined
  } catch {
    return undefined
  }
}
