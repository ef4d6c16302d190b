'use client'
import { type InfiniteData, type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { type ReactNode, useEffect, useRef } from 'react'
import { cutEnd, shortenMiddle } from '#components/ui/text.ts'
import { toast } from '#components/ui/toast.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { readTab, writeTab } from '#lib/console/frame/tab-storage.ts'
import { currentEvictions, evictionIdentity, formatCountdown, remainingMs } from '#lib/console/live/eviction-feed.ts'
import { devboxKeys } from '#lib/console/queries/devbox-keys.ts'
import { evictionQueries, followEvictions } from '#lib/console/queries/evictions.ts'
import type { Devbox, DevboxList } from '#lib/contract/devboxes.ts'
import type { Eviction } from '#lib/contract/evictions.ts'
import { Countdown } from './countdown.tsx'

/** Keeps the eviction stream open while the frame is; announces each new eviction once and counts them in the tab's title. */
export const EvictionStream = () => {
  const queryClient = useQueryClient()
  useEffect(() => followEvictions(queryClient), [queryClient])
  useAnnouncements()
  useDeadlines()
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
    const leftMs = (eviction: Eviction) => remainingMs(latest.current, eviction, Date.now())
    const news = unannounced(pending).filter((eviction) => leftMs(eviction) > 0)
    const [first] = news
    if (!first) return
    if (news.length > maxToasts) {
      toast.attention(
        <News eviction={first} leftMs={leftMs(first)}>
          {news.length} devboxes will be evicted, the first
        </News>,
        {
          id: evictionIdentity(first),
          description: 'They will be suspended: their disks stay, their processes end.',
          durationMs: Math.min(toastMs, leftMs(first)),
        },
      )
      return
    }
    for (const eviction of news) {
      toast.attention(
        <News eviction={eviction} leftMs={leftMs(eviction)}>
          <VisibleText>{knownName(queryClient, eviction.devbox_id)}</VisibleText> will be evicted
        </News>,
        {
          id: evictionIdentity(eviction),
          description: 'It will be suspended: its disk stays, its processes end.',
          action: { label: 'Open devbox', onClick: () => router.push(paths.devbox(eviction.devbox_id)) },
          durationMs: Math.min(toastMs, leftMs(eviction)),
        },
      )
    }
  }, [pending, queryClient, router])
  useWithdrawals()
}

const toastMs = 30_000

/** The alert is read out once, with the time as it was then; what ticks stands beside it. */
const News = ({ eviction, leftMs, children }: { eviction: Eviction; leftMs: number; children: ReactNode }) => (
  <>
    <span role="alert">
      {children} <span className="sr-only">in {formatCountdown(leftMs)}</span>
    </span>
    in <Countdown eviction={eviction} />
  </>
)

/** Takes back the toast of an eviction that is over, was taken back or moved. */
const useWithdrawals = () => {
  const { data: feed } = useQuery(evictionQueries.feed())
  const current = useClock((nowMs) => currentEvictions(feed, nowMs).map(evictionIdentity).join(' '))
  const before = useRef<string[]>([])
  useEffect(() => {
    const identities = current.split(' ')
    for (const identity of before.current) if (!identities.includes(identity)) toast.dismiss(identity)
    before.current = identities
  }, [current])
}

/** Asks for the devboxes anew when a deadline has passed, so that the page shows what came of it. */
const useDeadlines = () => {
  const { data: feed } = useQuery(evictionQueries.feed())
  const queryClient = useQueryClient()
  const passed = useClock(
    (nowMs) => feed.pending.findLast((each) => remainingMs(feed, each, nowMs) === 0)?.devbox_id ?? null,
  )
  useEffect(() => {
    if (passed === null) return
    // The suspension itself takes a moment; after that, a devbox on its way is looked at often anyway.
    const timer = setTimeout(() => void queryClient.invalidateQueries({ queryKey: devboxKeys.all }), 300)
    return () => clearTimeout(timer)
  }, [passed, queryClient])
}

const announcedKey = 'devdeck.announced-evictions'
/** Kept for the tab, so that a reload does not announce again what was announced before it. */
const unannounced = (pending: readonly Eviction[]): Eviction[] => {
  const announced = new Set(readAnnounced())
  const news = pending.filter((eviction) => !announced.has(evictionIdentity(eviction)))
  if (news.length > 0) writeTab(announcedKey, JSON.stringify([...announced, ...news.map(evictionIdentity)].slice(-500)))
  return news
}

const readAnnounced = (): string[] => {
  try {
    const stored: unknown = JSON.parse(readTab(announcedKey) ?? '[]')
    return Array.isArray(stored) ? stored.map(String) : []
  } catch {
    return []
  }
}

/** A toast cannot wait for an answer, so it says the name only when the page has it already. */
const knownName = (queryClient: QueryClient, id: string): string => {
  const listed = queryClient
    .getQueriesData<InfiniteData<DevboxList>>({ queryKey: devboxKeys.lists })
    .flatMap(([, list]) => list?.pages ?? [])
    .flatMap(({ devboxes }) => devboxes)
    .find((devbox) => devbox.id === id)
  const name = (queryClient.getQueryData<Devbox>(devboxKeys.one(id)) ?? listed)?.name
  return name ? cutEnd(name, 60) : `Devbox ${shortenMiddle(id, 18)}`
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
