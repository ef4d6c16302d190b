'use client'
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useEffect, useRef } from 'react'
import { toast } from '#components/ui/toast.tsx'
import { evictionIdentity, formatCountdown, remainingMs } from '#lib/console/eviction-stream.ts'
import { paths } from '#lib/console/paths.ts'
import { devboxKeys } from '#lib/console/queries/devboxes.ts'
import { evictionQueries, followEvictions } from '#lib/console/queries/evictions.ts'
import type { Devbox } from '#lib/contract/devboxes.ts'
import type { Eviction } from '#lib/contract/evictions.ts'
import { useClock } from './use-clock.ts'

/** Keeps the eviction stream open while the frame is; announces each new eviction once and counts them in the tab's title. */
export const EvictionStream = () => {
  const queryClient = useQueryClient()
  useEffect(() => followEvictions(queryClient), [queryClient])
  useAnnouncements()
  useTitleCount()
  return null
}

/** Beyond this many at once, one toast speaks for all. */
const maxToasts = 3

const useAnnouncements = () => {
  const { data: feed } = useQuery(evictionQueries.feed())
  const queryClient = useQueryClient()
  const router = useRouter()
  const { pending } = feed
  const latest = useRef(feed)
  latest.current = feed
  useEffect(() => {
    const news = unannounced(pending).filter((eviction) => remainingMs(latest.current, eviction, Date.now()) > 0)
    const [first] = news
    if (!first) return
    const left = (eviction: Eviction) => formatCountdown(remainingMs(latest.current, eviction, Date.now()))
    if (news.length > maxToasts) {
      toast.attention(
        <span role="alert">{`${news.length} devboxes will be evicted, the first in ${left(first)}`}</span>,
        {
          id: `evictions-${evictionIdentity(first)}`,
          description: 'They will be suspended: their disks stay, their processes end.',
          durationMs: 30_000,
        },
      )
      return
    }
    for (const eviction of news) {
      const name = knownName(queryClient, eviction.devbox_id)
      toast.attention(<span role="alert">{`${name} will be evicted in ${left(eviction)}`}</span>, {
        id: evictionIdentity(eviction),
        description: 'It will be suspended: its disk stays, its processes end.',
        action: { label: 'Open devbox', onClick: () => router.push(paths.devbox(eviction.devbox_id)) },
        durationMs: 30_000,
      })
    }
  }, [pending, queryClient, router])
}

const announcedKey = 'devdeck.announced-evictions'
/** Kept for the tab, so that a reload does not announce again what was announced before it. */
const unannounced = (pending: readonly Eviction[]): Eviction[] => {
  const announced = new Set(readAnnounced())
  const news = pending.filter((eviction) => !announced.has(evictionIdentity(eviction)))
  if (news.length > 0) {
    try {
      sessionStorage.setItem(announcedKey, JSON.stringify([...announced, ...news.map(evictionIdentity)].slice(-500)))
    } catch {
      // Storage is full or forbidden: a reload may then announce twice, which beats not at all.
    }
  }
  return news
}

const readAnnounced = (): string[] => {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(announcedKey) ?? '[]')
    return Array.isArray(stored) ? stored.map(String) : []
  } catch {
    return []
  }
}

/** A toast cannot wait for an answer, so it says the name only when the page has it already. */
const knownName = (queryClient: QueryClient, id: string): string => {
  const name = queryClient.getQueryData<Devbox>(devboxKeys.one(id))?.name
  return name ? `Devbox ${name.slice(0, 60)}` : `Devbox ${id}`
}

/** `(2) Devboxes`: kept in front of whatever title the page has. */
const useTitleCount = () => {
  const { data: feed } = useQuery(evictionQueries.feed())
  const count = useClock((nowMs) => feed.pending.filter((eviction) => remainingMs(feed, eviction, nowMs) > 0).length)
  useEffect(() => {
    const apply = () => {
      const bare = document.title.replace(/^\(\d+\) /, '')
      const wanted = count > 0 ? `(${count}) ${bare}` : bare
      if (document.title !== wanted) document.title = wanted
    }
    apply()
    // Navigation writes a new title; it is ours to count in again.
    const observer = new MutationObserver(apply)
    observer.observe(document.head, { childList: true, subtree: true, characterData: true })
    return () => observer.disconnect()
  }, [count])
}
