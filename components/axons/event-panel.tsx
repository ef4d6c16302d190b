'use client'
import { useInfiniteQuery, useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Download, Send, X } from 'lucide-react'
import { type FormEvent, useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import * as z from 'zod/mini'
import { FilterInput, FilterSelect } from '#components/list/filter-fields.tsx'
import { useAddress } from '#components/list/use-address.ts'
import { Button } from '#components/ui/button.tsx'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { Field, TextField } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { submitOnCtrlEnter, Textarea } from '#components/ui/input.tsx'
import { LiveState } from '#components/ui/live-badge.tsx'
import { PageActions } from '#components/ui/page-actions.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { formatZone } from '#components/ui/time-text.ts'
import { toast } from '#components/ui/toast.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { searchOf } from '#lib/browser/address/search.ts'
import { formatBytes, formatCount } from '#lib/browser/format.ts'
import { saveText } from '#lib/browser/lists/export.ts'
import { type AxonEvent, AxonPublish, changeRefusal, maxPayloadBytes, publishedOrigins } from '#lib/contract/axons.ts'
import { queryInt } from '#lib/contract/common.ts'
import { fieldProblems } from '#lib/contract/query-string.ts'
import { EventDetails } from './event-details.tsx'
import { EventLog } from './event-log.tsx'
import { axonEvents, matchingEvents } from './event-queries.ts'
import {
  type EventFilter,
  eventMatcher,
  gapsIn,
  isFiltering,
  type LogRow,
  logRows,
  mergeEvents,
  noEventFilter,
  readPayload,
  toLines,
} from './event-rows.ts'
import type { TailSnapshot } from './event-tail.ts'
import { originLabel, originLabels } from './origin-labels.ts'
import { axonMutations, axonQueries } from './queries.ts'

/** Live event log of an axon. The address holds its filters and the open event. */
export const EventPanel = ({ id }: { id: string }) => {
  const { data: axon } = useSuspenseQuery(axonQueries.get(id))
  const tail = useMemo(() => axonEvents(id), [id])
  useEffect(() => {
    const leaving = new AbortController()
    void tail.follow(leaving.signal)
    return () => leaving.abort()
  }, [tail])
  const log = useSyncExternalStore(tail.subscribe, tail.getSnapshot, tail.getSnapshot)
  const address = useMemo(() => ({ schema: EventSearchParams, path: axonEventsPath(id) }), [id])
  const { view, settled, change } = useAddress(address)
  const filter = useMemo(() => filterOf(settled), [settled])
  const zone = useClock(formatZone, '')
  const [isPublishing, setIsPublishing] = useState(false)
  const found = useFound(id, filter, log.events)
  const rows = useMemo(() => found?.rows ?? logRows(log.events, filter), [found, log.events, filter])
  const shown = useMemo(() => rows.flatMap((row) => (row.kind === 'event' ? [row.event] : [])), [rows])

  const opened = settled.event ?? null
  const open = useCallback((sequence: number | null) => change({ event: sequence ?? undefined }, 'replace'), [change])
  const loadOrToast = (loading: Promise<void>) => loading.catch(toast.failed('The events could not be loaded'))
  const isHidden = opened !== null && !log.isLoading && !shown.some(({ sequence }) => sequence === opened)
  return (
    <section aria-label="Events" className="space-y-2">
      <PageActions className="flex flex-wrap items-center gap-2">
        <FilterSelect
          label="Origin"
          any="Any origin"
          value={view.origin}
          words={originLabels}
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
          needs="axons.publish"
          disabledReason={changeRefusal(axon)}
          onClick={() => setIsPublishing(!isPublishing)}
        >
          Publish event
        </Button>
      </PageActions>
      {isPublishing && !changeRefusal(axon) && <PublishForm axonId={id} />}
      <PageActions className="flex min-h-8 flex-wrap items-center gap-x-3 text-sm text-muted">
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
          disabledReason={shown.length === 0 ? 'there are no events to download' : null}
          onClick={() => saveText('axon-events', 'ndjson', toLines(shown))}
        >
          Download events
        </Button>
      </PageActions>
      {isHidden && <LinkedEvent axonId={id} sequence={opened} onClose={() => open(null)} />}
      {log.isLoading ? (
        <SkeletonRows columns={4} label="Loading the events" />
      ) : (
        <EventLog
          axonId={id}
          rows={rows}
          isEmpty={log.events.length === 0}
          noneText={found ? found.noneText : 'No loaded events match.'}
          hasOlder={found?.older ? found.older.exist : log.hasOlder}
          opened={opened}
          onOpen={open}
          onOlder={() => loadOrToast(found?.older ? found.older.load() : tail.loadOlder())}
          onFill={(gap) => loadOrToast(tail.fill(gap.to))}
        />
      )}
    </section>
  )
}

const filterOf = ({ origin = '', type = '', source = '', payload = '' }: EventSearchParams): EventFilter => ({
  ...noEventFilter,
  origin,
  type,
  source,
  payload,
})

interface FoundEvents {
  rows: LogRow[]
  /** Number of matches and the searched range. */
  text: string
  noneText: string
  /** Absent while only loaded events have been searched. */
  older?: { exist: boolean; load: () => Promise<void> }
}

/** Matches in the whole log plus events that arrived since; null without a filter. */
const useFound = (id: string, filter: EventFilter, events: readonly AxonEvent[]): FoundEvents | null => {
  const isOn = isFiltering(filter)
  const { data, error, hasNextPage, fetchNextPage } = useInfiniteQuery({
    ...matchingEvents(id, filter),
    enabled: isOn,
  })
  return useMemo(() => {
    if (!isOn) return null
    const loaded = events.filter(eventMatcher(filter))
    const loadedText = `${formatCount(loaded.length)} of ${formatCount(events.length)} loaded events match`
    if (!data)
      return {
        rows: logRows(events, filter),
        text: error
          ? `${loadedText}; searching the whole log failed: ${problemOf(error).message}`
          : `${loadedText}; searching the whole log`,
        noneText: error ? 'No loaded events match.' : 'Searching the whole log',
      }
    const inLog = data.pages.flatMap((page) => page.events).reverse()
    const shown = mergeEvents(inLog, loaded)
    const { matching = 0, last = -1 } = data.pages[0]?.counted ?? {}
    const since = loaded.filter(({ sequence }) => sequence > last).length
    return {
      rows: shown.map((event) => ({ kind: 'event', event })),
      text: `${formatCount(shown.length)} of ${formatCount(matching + since)} matches in the whole log`,
      noneText: 'No events match.',
      older: { exist: hasNextPage, load: async () => void (await fetchNextPage({ throwOnError: true })) },
    }
  }, [isOn, filter, events, data, error, hasNextPage, fetchNextPage])
}

const TailState = ({ log: { health, hasEnded, error } }: { log: TailSnapshot }) => {
  if (error !== null) return <span className="text-danger">Couldn't follow the log: {problemOf(error).message}</span>
  if (hasEnded) return 'Complete: the axon is deleted'
  return <LiveState health={health} what="the log" />
}

const sizeText = ({ events, hasOlder, dropped }: TailSnapshot, shown: readonly AxonEvent[]): string => {
  if (events.length === 0) return ''
  const missing = gapsIn(events).reduce((sum, { from, to }) => sum + to - from + 1, 0)
  return [
    `${formatCount(shown.length)} of ${formatCount(events.length)} loaded`,
    hasOlder ? 'older events exist' : '',
    dropped > 0 ? `${formatCount(dropped)} unloaded to save memory` : '',
    missing > 0 ? `${formatCount(missing)} missing` : '',
  ]
    .filter(Boolean)
    .join(', ')
}

interface LinkedEventProps {
  axonId: string
  sequence: number
  onClose: () => void
}

/** The open event when it is not in the list: too old to be loaded, or filtered out. */
const LinkedEvent = ({ axonId, sequence, onClose }: LinkedEventProps) => {
  const query = useQuery(axonQueries.event(axonId, sequence))
  return (
    <section aria-label={`Event ${sequence}`} className="rounded-md border border-line bg-surface-1">
      <header className="flex items-center gap-2 py-1 pr-1 pl-3">
        <h2 className="flex-1 font-medium">
          Event <span className="tabular font-mono">{sequence}</span>
          <span className="font-normal text-muted"> (not in the list below)</span>
        </h2>
        <IconButton size="sm" icon={X} label={`Close event ${sequence}`} onClick={onClose} />
      </header>
      {query.data && <EventDetails axonId={axonId} event={query.data} />}
      {query.data === null && <p className="px-3 pb-2 text-muted">No event has this sequence.</p>}
      {query.isPending && <p className="animate-appear-late px-3 pb-2 text-muted">Loading…</p>}
      {query.error && <InlineError error={query.error} className="px-3 pb-2" />}
    </section>
  )
}

/** Filters of an axon's event log, and the event that is open. */
const EventSearchParams = z.object({
  /** Sequence of the open event. */
  event: z.optional(queryInt(0, Number.MAX_SAFE_INTEGER)),
  origin: z.optional(z.string()),
  type: z.optional(z.string()),
  source: z.optional(z.string()),
  payload: z.optional(z.string()),
})
export type EventSearchParams = z.output<typeof EventSearchParams>

const axonEventsPath =
  (id: string) =>
  ({ event, origin, type, source, payload }: Partial<EventSearchParams>): string =>
    `${paths.axon(id, 'events')}${searchOf({ event, origin, type, source, payload })}`

const start: AxonPublish = { event_type: '', origin: 'USER_EVENT', source: 'console', payload: '{}' }

/** Keeps its values after publishing, since the next event is often similar. */
const PublishForm = ({ axonId }: { axonId: string }) => {
  const [event, setEvent] = useState(start)
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({})
  const publish = useMutation(axonMutations.publish())
  const set = (part: Partial<AxonPublish>) => setEvent({ ...event, ...part })
  const submit = (submitted: FormEvent) => {
    submitted.preventDefault()
    if (publish.isPending) return
    const parsed = AxonPublish.safeParse(event)
    const invalid = parsed.success ? [] : fieldProblems(parsed.error)
    setProblems(Object.fromEntries(invalid.map(({ field, message }) => [field, message])))
    if (parsed.success) publish.mutate({ id: axonId, event: parsed.data })
  }
  const bytes = new TextEncoder().encode(event.payload).byteLength
  const rejectedField = problemOf(publish.error).field
  return (
    <form
      onSubmit={submit}
      aria-label="Publish an event"
      className="space-y-3 rounded-md border border-line bg-surface-1 p-3"
    >
      <div className="grid gap-3 sm:grid-cols-3">
        <TextField
          label="Type"
          error={problems.event_type}
          mono
          placeholder="build.finished"
          value={event.event_type}
          onText={(text) => set({ event_type: text })}
        />
        <SelectField
          label="Origin"
          value={event.origin}
          onPick={(picked) => set({ origin: picked })}
          options={publishedOrigins.map((value) => ({ value, label: originLabel(value) }))}
        />
        <TextField
          label="Source"
          error={problems.source}
          mono
          value={event.source}
          onText={(text) => set({ source: text })}
        />
      </div>
      <Field
        label="Payload"
        error={problems.payload}
        hint={`${readPayload(event.payload).kind === 'json' ? 'JSON' : 'Plain text'}, ${formatBytes(bytes)} of ${formatBytes(maxPayloadBytes)}`}
      >
        {(control) => (
          <Textarea
            {...control}
            mono
            rows={5}
            value={event.payload}
            onChange={({ target }) => set({ payload: target.value })}
            onKeyDown={submitOnCtrlEnter}
          />
        )}
      </Field>
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" variant="primary" needs="axons.publish" busy={publish.isPending}>
          Publish event
        </Button>
        <p role="status" className="text-sm text-muted">
          {publish.data && `Published as event ${publish.data.sequence}`}
        </p>
        {publish.error && !(rejectedField && problems[rejectedField]) && <InlineError error={publish.error} />}
      </div>
    </form>
  )
}
