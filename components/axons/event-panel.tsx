'use client'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Download, Send } from 'lucide-react'
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { FilterInput, FilterSelect } from '#components/list/filter-fields.tsx'
import { useAddress } from '#components/list/use-address.ts'
import { Button } from '#components/ui/button.tsx'
import { LiveState } from '#components/ui/live-badge.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { formatZone } from '#components/ui/time-text.ts'
import { toast } from '#components/ui/toast.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { AxonEventsView, axonEventsPath } from '#lib/browser/address/axon-events-view.ts'
import { formatCount } from '#lib/browser/format.ts'
import { saveText } from '#lib/browser/lists/export.ts'
import {
  type EventFilter,
  eventMatcher,
  gapsIn,
  isFiltering,
  type LogRow,
  logRows,
  mergeEvents,
  noEventFilter,
  toLines,
} from '#lib/browser/live/event-log.ts'
import type { TailSnapshot } from '#lib/browser/live/event-tail.ts'
import { axonEvents, matchingEvents } from '#lib/browser/queries/axon/events.ts'
import { type Axon, type AxonEvent, changeRefusal } from '#lib/contract/axons.ts'
import { EventLog } from './event-log.tsx'
import { LinkedEvent } from './linked-event.tsx'
import { originWords } from './origin-word.ts'
import { PublishForm } from './publish-form.tsx'

/** The log of an axon as it grows. One event can be opened; the address names it. */
export const EventPanel = ({ axon }: { axon: Axon }) => {
  const { id } = axon
  const tail = useMemo(() => axonEvents(id), [id])
  useEffect(() => {
    const leaving = new AbortController()
    void tail.follow(leaving.signal)
    return () => leaving.abort()
  }, [tail])
  const log = useSyncExternalStore(tail.subscribe, tail.getSnapshot, tail.getSnapshot)
  const address = useMemo(() => ({ schema: AxonEventsView, path: axonEventsPath(id) }), [id])
  const { view, settled, change } = useAddress(address)
  const filter = useMemo(() => filterOf(settled), [settled])
  const zone = useClock(formatZone, '')
  const [isPublishing, setIsPublishing] = useState(false)
  const found = useFound(id, filter, log.events)
  const rows = useMemo(() => found?.rows ?? logRows(log.events, filter), [found, log.events, filter])
  const shown = useMemo(() => rows.flatMap((row) => (row.kind === 'event' ? [row.event] : [])), [rows])

  const opened = settled.event ?? null
  const open = useCallback((sequence: number | null) => change({ event: sequence ?? undefined }, 'replace'), [change])
  const orToast = (what: Promise<void>) => what.catch(toast.failed('The events could not be loaded'))
  const isElsewhere = opened !== null && !log.isLoading && !shown.some(({ sequence }) => sequence === opened)
  return (
    <section aria-label="Events" className="space-y-2">
      <div data-page-actions className="flex flex-wrap items-center gap-2">
        <FilterSelect
          label="Origin"
          any="Any origin"
          value={view.origin}
          words={originWords}
          onFilter={(origin) => change({ origin }, 'push')}
        />
        <FilterInput
          data-filter-input
          label="Type contains"
          className="min-w-0 flex-1 basis-32 sm:max-w-44"
          value={view.type}
          onFilter={(type) => change({ type }, 'type')}
        />
        <FilterInput
          label="Source contains"
          className="min-w-0 flex-1 basis-32 sm:max-w-44"
          value={view.source}
          onFilter={(source) => change({ source }, 'type')}
        />
        <FilterInput
          label="Payload contains"
          className="min-w-0 flex-1 basis-32 sm:max-w-52"
          value={view.payload}
          onFilter={(payload) => change({ payload }, 'type')}
        />
        {isFiltering(filterOf(view)) && (
          <Button
            variant="ghost"
            onClick={() =>
              change({ origin: undefined, type: undefined, source: undefined, payload: undefined }, 'push')
            }
          >
            Clear filters
          </Button>
        )}
        <Button
          icon={Send}
          className="ml-auto"
          aria-expanded={isPublishing}
          disabledReason={changeRefusal(axon)}
          onClick={() => setIsPublishing(!isPublishing)}
        >
          Publish event
        </Button>
      </div>
      {isPublishing && !changeRefusal(axon) && <PublishForm axonId={id} />}
      <div data-page-actions className="flex min-h-8 flex-wrap items-center gap-x-3 text-sm text-muted">
        <p role="status">
          <TailState log={log} />
        </p>
        {zone && <p className="max-sm:hidden">Times in {zone}</p>}
        <p className="tabular">{found ? found.text : sizeText(log, shown)}</p>
        <Button
          size="sm"
          variant="ghost"
          className="ml-auto"
          icon={Download}
          disabledReason={shown.length === 0 ? 'there is no event to download' : null}
          onClick={() => saveText('axon-events', 'ndjson', toLines(shown))}
        >
          Download events
        </Button>
      </div>
      {isElsewhere && <LinkedEvent axonId={id} sequence={opened} onClose={() => open(null)} />}
      {log.isLoading ? (
        <SkeletonRows columns={4} label="Loading the events" />
      ) : (
        <EventLog
          axonId={id}
          rows={rows}
          isEmpty={log.events.length === 0}
          noneText={found ? found.noneText : 'No loaded event matches.'}
          hasOlder={found?.older ? found.older.exist : log.hasOlder}
          opened={opened}
          onOpen={open}
          onOlder={() => orToast(found?.older ? found.older.load() : tail.loadOlder())}
          onFill={(gap) => orToast(tail.fill(gap.to))}
        />
      )}
    </section>
  )
}

const filterOf = ({ origin = '', type = '', source = '', payload = '' }: AxonEventsView): EventFilter => ({
  ...noEventFilter,
  origin,
  type,
  source,
  payload,
})

interface FoundEvents {
  rows: LogRow[]
  /** What was searched, and what it came to. */
  text: string
  noneText: string
  /** Absent while, or where, only what is loaded could be searched. */
  older?: { exist: boolean; load: () => Promise<void> }
}

/** What a filter finds in the whole log and in what has come since; null without a filter. */
const useFound = (id: string, filter: EventFilter, events: readonly AxonEvent[]): FoundEvents | null => {
  const isOn = isFiltering(filter)
  const { data, error, hasNextPage, fetchNextPage } = useInfiniteQuery({
    ...matchingEvents(id, filter),
    enabled: isOn,
  })
  return useMemo(() => {
    if (!isOn) return null
    const loaded = events.filter(eventMatcher(filter))
    const ofLoaded = `${formatCount(loaded.length)} of the ${formatCount(events.length)} loaded match`
    if (!data)
      return {
        rows: logRows(events, filter),
        text: error
          ? `${ofLoaded}; the whole log could not be searched: ${problemOf(error).message}`
          : `${ofLoaded}; searching the whole log`,
        noneText: error ? 'No loaded event matches.' : 'Searching the whole log',
      }
    const inLog = data.pages.flatMap((page) => page.events).reverse()
    const shown = mergeEvents(inLog, loaded)
    const { matching = 0, last = -1 } = data.pages[0]?.counted ?? {}
    const since = loaded.filter(({ sequence }) => sequence > last).length
    return {
      rows: shown.map((event) => ({ kind: 'event', event })),
      text: `${formatCount(shown.length)} of ${formatCount(matching + since)} that match in the whole log`,
      noneText: 'No event of the log matches.',
      older: { exist: hasNextPage, load: async () => void (await fetchNextPage({ throwOnError: true })) },
    }
  }, [isOn, filter, events, data, error, hasNextPage, fetchNextPage])
}

const TailState = ({ log: { health, hasEnded, error } }: { log: TailSnapshot }) => {
  if (error !== null) return <span className="text-danger">Couldn't follow the log: {problemOf(error).message}</span>
  if (hasEnded) return 'The axon is deleted; its log is complete'
  return <LiveState health={health} what="the log" />
}

const sizeText = ({ events, hasOlder, dropped }: TailSnapshot, shown: readonly AxonEvent[]): string => {
  if (events.length === 0) return ''
  const missing = gapsIn(events).reduce((sum, { from, to }) => sum + to - from + 1, 0)
  return [
    `${formatCount(shown.length)} of ${formatCount(events.length)} loaded`,
    hasOlder ? 'older ones exist' : '',
    dropped > 0 ? `${formatCount(dropped)} let go to keep the page light` : '',
    missing > 0 ? `${formatCount(missing)} missing` : '',
  ]
    .filter(Boolean)
    .join(', ')
}
