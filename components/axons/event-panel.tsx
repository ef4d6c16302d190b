'use client'
import { Download, Send } from 'lucide-react'
import { useSearchParams } from 'next/navigation'
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { FilterInput } from '#components/filters/filter-input.tsx'
import { Button } from '#components/ui/button.tsx'
import { LiveState } from '#components/ui/live-badge.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { Select } from '#components/ui/select.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { toast } from '#components/ui/toast.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { formatCount } from '#lib/console/frame/format.ts'
import { saveText } from '#lib/console/lists/export.ts'
import { gapsIn, isFiltering, logRows, noEventFilter, toLines } from '#lib/console/live/event-log.ts'
import type { TailSnapshot } from '#lib/console/live/event-tail.ts'
import { axonEvents } from '#lib/console/queries/axon-events.ts'
import { type Axon, type AxonEvent, changeRefusal, eventOrigins } from '#lib/contract/axons.ts'
import { eventOf } from './axon-tab.ts'
import { EventLog } from './event-log.tsx'
import { LinkedEvent } from './linked-event.tsx'
import { originWord } from './origin-word.ts'
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
  const [filter, setFilter] = useState(noEventFilter)
  const [isPublishing, setIsPublishing] = useState(false)
  const rows = useMemo(() => logRows(log.events, filter), [log.events, filter])
  const shown = useMemo(() => rows.flatMap((row) => (row.kind === 'event' ? [row.event] : [])), [rows])

  const opened = eventOf(useSearchParams().get('event'))
  const open = useCallback(
    (sequence: number | null) => history.replaceState(null, '', paths.axon(id, 'events', sequence ?? undefined)),
    [id],
  )
  const orToast = (what: Promise<void>) =>
    what.catch((error: unknown) =>
      toast.danger('The events could not be loaded', { description: problemOf(error).message }),
    )
  const isElsewhere = opened !== null && !log.isLoading && !shown.some(({ sequence }) => sequence === opened)
  return (
    <section aria-label="Events" className="space-y-2">
      <div className="flex flex-wrap items-center gap-2">
        <Select
          aria-label="Origin"
          className="w-40 max-sm:flex-1 max-sm:basis-32"
          value={filter.origin}
          onChange={({ target }) => setFilter({ ...filter, origin: target.value })}
          options={[
            { value: '', label: 'Any origin' },
            ...eventOrigins.map((value) => ({ value, label: originWord(value) })),
          ]}
        />
        <FilterInput
          data-filter-input
          label="Type contains"
          className="min-w-0 flex-1 basis-32 sm:max-w-44"
          value={filter.type}
          onFilter={(type = '') => setFilter({ ...filter, type })}
        />
        <FilterInput
          label="Source contains"
          className="min-w-0 flex-1 basis-32 sm:max-w-44"
          value={filter.source}
          onFilter={(source = '') => setFilter({ ...filter, source })}
        />
        {isFiltering(filter) && (
          <Button variant="ghost" onClick={() => setFilter(noEventFilter)}>
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
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 text-sm text-muted">
        <p role="status">
          <TailState log={log} />
        </p>
        <p className="tabular">{sizeText(log, shown)}</p>
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
          hasOlder={log.hasOlder}
          opened={opened}
          onOpen={open}
          onOlder={() => orToast(tail.loadOlder())}
          onFill={(gap) => orToast(tail.fill(gap.to))}
        />
      )}
    </section>
  )
}

const TailState = ({ log: { health, hasEnded, lost } }: { log: TailSnapshot }) => {
  if (lost !== null) return <span className="text-danger">The log cannot be followed: {problemOf(lost).message}</span>
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
