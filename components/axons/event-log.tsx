'use client'
import { useVirtualizer } from '@tanstack/react-virtual'
import { ChevronRight, History } from 'lucide-react'
import { memo, useEffect, useMemo, useRef, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { classes } from '#components/ui/classes.ts'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { FollowedLog } from '#components/ui/followed-log.tsx'
import { formatExact, formatTimeOfDay } from '#components/ui/time-text.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, isoTime } from '#lib/browser/format.ts'
import type { AxonEvent } from '#lib/contract/axons.ts'
import { EventDetails } from './event-details.tsx'
import { type Gap, type LogRow, newSince } from './event-rows.ts'
import { originLabel } from './origin-labels.ts'

interface EventLogProps {
  axonId: string
  rows: readonly LogRow[]
  /** The log itself is empty, not just filtered. */
  isEmpty: boolean
  /** Shown when no row matches. */
  noneText: string
  hasOlder: boolean
  opened: number | null
  onOpen: (sequence: number | null) => void
  onOlder: () => Promise<unknown>
  onFill: (gap: Gap) => Promise<unknown>
}

const rowHeight = 28

/** Oldest first. Follows the end until the user scrolls up, then counts new events. */
export const EventLog = (props: EventLogProps) => {
  const { axonId, rows, isEmpty, noneText, hasOlder, opened, onOpen, onOlder, onFill } = props
  const region = useRef<HTMLDivElement>(null)
  const last = useMemo(() => lastSequence(rows), [rows])
  /** Last sequence seen before following stopped. */
  const [seen, setSeen] = useState(opened === null ? null : last)
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => region.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => keyOf(rows[index] as LogRow),
    overscan: 12,
  })
  const size = virtualizer.getTotalSize()
  useScrollToOpened(rows, opened, (index) => virtualizer.scrollToIndex(index, { align: 'center' }))
  const [isLoadingOlder, setIsLoadingOlder] = useState(false)
  const older = async () => {
    setIsLoadingOlder(true)
    const before = region.current?.scrollHeight ?? 0
    await onOlder()
    setIsLoadingOlder(false)
    // Keep the scroll position: older rows are inserted above.
    requestAnimationFrame(() => {
      if (region.current) region.current.scrollTop += region.current.scrollHeight - before
    })
  }
  if (rows.length === 0)
    return isEmpty ? (
      <EmptyState icon={History} title="No events yet">
        Publish one here or through the API. It appears immediately on every page that shows this axon.
      </EmptyState>
    ) : (
      <div className="flex flex-col items-center gap-3 rounded-md border border-line px-3 py-8 text-muted">
        <p>{noneText}</p>
        {hasOlder && (
          <Button busy={isLoadingOlder} onClick={() => void older()}>
            Load older events
          </Button>
        )}
      </div>
    )
  const fresh = seen === null ? 0 : newSince(seen, rows)
  return (
    <FollowedLog
      label="Event log"
      end={`${last} ${size}`}
      region={region}
      // A linked event should not scroll away.
      startsAtEnd={opened === null}
      onFollowing={(isFollowing) => setSeen(isFollowing ? null : last)}
      endWord={fresh > 0 ? `${formatCount(fresh)} new` : 'Follow the end'}
      className="h-[min(64dvh,44rem)] rounded-md border border-line bg-surface-0"
    >
      {hasOlder && (
        <div className="flex justify-center border-b border-line py-1.5">
          <Button size="sm" variant="ghost" busy={isLoadingOlder} onClick={() => void older()}>
            Load older events
          </Button>
        </div>
      )}
      <ol className="relative" style={{ height: size }}>
        {virtualizer.getVirtualItems().map(({ index, key, start }) => {
          const row = rows[index] as LogRow
          return (
            <li
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              aria-setsize={rows.length}
              aria-posinset={index + 1}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${start}px)` }}
            >
              {row.kind === 'gap' ? (
                <GapRow gap={row.gap} onFill={onFill} />
              ) : (
                <EventRow axonId={axonId} event={row.event} isOpen={row.event.sequence === opened} onOpen={onOpen} />
              )}
            </li>
          )
        })}
      </ol>
    </FollowedLog>
  )
}

const keyOf = (row: LogRow): string | number => (row.kind === 'gap' ? `gap ${row.gap.from}` : row.event.sequence)

const lastSequence = (rows: readonly LogRow[]): number => {
  const row = rows.at(-1)
  return row?.kind === 'event' ? row.event.sequence : -1
}

/** Scrolls once, when the linked event is loaded. */
const useScrollToOpened = (rows: readonly LogRow[], opened: number | null, scrollTo: (index: number) => void) => {
  const pending = useRef(opened)
  useEffect(() => {
    if (pending.current === null) return
    const index = rows.findIndex((row) => row.kind === 'event' && row.event.sequence === pending.current)
    if (index === -1) return
    pending.current = null
    scrollTo(index)
  }, [rows, scrollTo])
}

const GapRow = ({ gap: { from, to }, onFill }: { gap: Gap; onFill: (gap: Gap) => Promise<unknown> }) => {
  const [isFilling, setIsFilling] = useState(false)
  const fill = async () => {
    setIsFilling(true)
    await onFill({ from, to })
    setIsFilling(false)
  }
  return (
    <div className="flex min-h-7 flex-wrap items-center gap-2 border-y border-attention-line bg-attention-bg px-3 text-sm text-attention">
      {from === to ? `Event ${from} is missing` : `${formatCount(to - from + 1)} events are missing: ${from} to ${to}`}
      <Button size="sm" variant="ghost" busy={isFilling} onClick={() => void fill()}>
        Reload
      </Button>
    </div>
  )
}

interface EventRowProps {
  axonId: string
  event: AxonEvent
  isOpen: boolean
  onOpen: (sequence: number | null) => void
}

const previewLength = 240

const EventRow = memo(({ axonId, event, isOpen, onOpen }: EventRowProps) => {
  const { sequence, timestamp_ms, origin, event_type, source, payload } = event
  return (
    <div className={classes(isOpen && 'border-y border-line bg-surface-1')}>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => onOpen(isOpen ? null : sequence)}
        className="flex h-7 w-full min-w-0 items-center gap-x-3 px-2 text-left font-mono text-sm -outline-offset-2 hover:bg-surface-2"
      >
        <ChevronRight
          aria-hidden
          className={classes('size-3 shrink-0 text-muted transition-transform', isOpen && 'rotate-90')}
        />
        <span className="tabular min-w-8 shrink-0 text-right text-muted">{sequence}</span>
        <time
          dateTime={isoTime(timestamp_ms)}
          title={formatExact(timestamp_ms)}
          className="tabular shrink-0 text-muted max-sm:hidden"
        >
          {formatTimeOfDay(timestamp_ms)}
        </time>
        <span className="w-16 shrink-0 truncate font-sans text-muted max-sm:hidden">{originLabel(origin)}</span>
        <span className="max-w-60 shrink-0 truncate font-medium max-sm:max-w-36">
          <VisibleText max={80}>{event_type}</VisibleText>
        </span>
        <span className="max-w-40 shrink-0 truncate text-muted max-sm:hidden">
          <VisibleText max={80}>{source}</VisibleText>
        </span>
        <span className="min-w-0 flex-1 truncate">
          <VisibleText max={previewLength}>{payload}</VisibleText>
        </span>
      </button>
      {isOpen && <EventDetails axonId={axonId} event={event} />}
    </div>
  )
})
