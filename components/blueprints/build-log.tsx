'use client'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { Download, Search } from 'lucide-react'
import { memo, useDeferredValue, useMemo, useRef, useState } from 'react'
import { StyledText } from '#components/devboxes/log/styled-text.tsx'
import { Button } from '#components/ui/button.tsx'
import { Check } from '#components/ui/choice/check.tsx'
import { classes } from '#components/ui/classes.ts'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { FollowedLog } from '#components/ui/followed-log.tsx'
import { Input } from '#components/ui/input.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { formatExact, formatTimeOfDay } from '#components/ui/time-text.ts'
import { useShownError } from '#components/ui/use-shown-error.ts'
import { isTransient } from '#lib/browser/api/failures.ts'
import { formatCount, formatCountOf, isoTime } from '#lib/browser/format.ts'
import { saveText } from '#lib/browser/lists/export.ts'
import { contains } from '#lib/browser/lists/row-filters.ts'
import { joinLines, readLines } from '#lib/browser/text/console-text.ts'
import { type BlueprintLogRecord, isBuilding } from '#lib/contract/blueprints.ts'
import { blueprintQueries } from './queries.ts'

type LogLine = BlueprintLogRecord & { number: number }

export const BuildLog = ({ id }: { id: string }) => {
  const { data: blueprint } = useSuspenseQuery(blueprintQueries.get(id))
  const query = useQuery(blueprintQueries.log(blueprint))
  const error = useShownError(query)
  const [search, setSearch] = useState('')
  const [wraps, setWraps] = useState(true)
  const wanted = useDeferredValue(search)
  const records = query.data
  const lines = useMemo(() => {
    const all: LogLine[] = (records ?? []).map((record, index) => ({ ...record, number: index + 1 }))
    return wanted === '' ? all : all.filter(({ message }) => contains(message, wanted))
  }, [records, wanted])
  if (!records)
    return error ? (
      <ErrorState title="Couldn't load the build log" error={error} recovers={isTransient(error)} query={query} />
    ) : (
      <SkeletonRows columns={2} label="Loading the build log" />
    )
  const text = () => lines.map(lineText).join('\n')
  const emptyReason = lines.length === 0 ? 'no lines shown' : null
  return (
    <section aria-label="Build log" className="space-y-2">
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-2 text-sm text-muted">
        <span className="w-64 max-sm:w-full">
          <Input
            data-filter-input
            icon={Search}
            type="search"
            aria-label="Search the build log"
            placeholder="Search the build log"
            value={search}
            onChange={({ target }) => setSearch(target.value)}
          />
        </span>
        <p role="status">
          {error ? (
            <span className="text-danger">Couldn't refresh the log: {problemOf(error).message}</span>
          ) : isBuilding(blueprint.status) ? (
            'Following the build'
          ) : (
            'The build has ended. The log is complete.'
          )}
        </p>
        <p className="tabular">
          {wanted === ''
            ? formatCountOf(records.length, 'line')
            : `${formatCount(lines.length)} of ${formatCountOf(records.length, 'line')}`}
        </p>
        <span className="ml-auto inline-flex flex-wrap items-center gap-1">
          <Check label="Wrap lines" checked={wraps} onCheck={setWraps} />
          <CopyButton what="log" text={text} disabledReason={emptyReason} />
          <Button
            size="sm"
            variant="ghost"
            icon={Download}
            disabledReason={emptyReason}
            onClick={() => saveText(`build-log-${id}`, 'txt', `${text()}\n`)}
          >
            Download log
          </Button>
        </span>
      </div>
      {lines.length === 0 ? (
        <p className="rounded-md border border-line px-3 py-6 text-center text-muted">
          {records.length > 0
            ? 'No matching lines.'
            : isBuilding(blueprint.status)
              ? 'No output yet.'
              : 'The log is empty.'}
        </p>
      ) : (
        <Lines lines={lines} wraps={wraps} />
      )}
    </section>
  )
}

const lineHeight = 20

const Lines = ({ lines, wraps }: { lines: readonly LogLine[]; wraps: boolean }) => {
  const region = useRef<HTMLDivElement>(null)
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => region.current,
    estimateSize: () => lineHeight,
    getItemKey: (index) => lines[index]?.number ?? index,
    // The end, where the log is followed.
    initialOffset: lines.length * lineHeight,
    overscan: 20,
  })
  const size = virtualizer.getTotalSize()
  return (
    <FollowedLog
      label="Build output"
      end={`${lines.length} ${size}`}
      region={region}
      className="h-[min(70dvh,48rem)] rounded-md border border-line bg-surface-0 py-1 font-mono text-sm leading-5"
    >
      <ol className="relative" style={{ height: size }}>
        {virtualizer.getVirtualItems().map(({ index, key, start }) => (
          <li
            key={key}
            ref={virtualizer.measureElement}
            data-index={index}
            aria-setsize={lines.length}
            aria-posinset={index + 1}
            className="absolute inset-x-0 top-0"
            style={{ transform: `translateY(${start}px)` }}
          >
            <Line line={lines[index] as LogLine} wraps={wraps} />
          </li>
        ))}
      </ol>
    </FollowedLog>
  )
}

/** A limit for services that don't truncate lines. */
const maxLineLength = 8_192

const Line = memo(({ line, wraps }: { line: LogLine; wraps: boolean }) => (
  <div className="flex gap-x-3 px-3 hover:bg-surface-1">
    <span aria-hidden className="tabular min-w-10 shrink-0 text-right text-muted select-none max-sm:hidden">
      {line.number}
    </span>
    <time
      dateTime={isoTime(line.timestamp_ms)}
      title={formatExact(line.timestamp_ms)}
      className="tabular shrink-0 text-muted max-sm:hidden"
    >
      {formatTimeOfDay(line.timestamp_ms)}
    </time>
    {isError(line) && <span className="sr-only">error:</span>}
    <span
      className={classes(
        wraps ? 'min-w-0 whitespace-pre-wrap wrap-anywhere' : 'whitespace-pre',
        isError(line) ? 'text-danger' : /^warn/i.test(line.level) && 'text-attention',
      )}
    >
      <StyledText spans={joinLines(readLines(line.message).lines)} max={maxLineLength} />
    </span>
  </div>
))

const isError = ({ level }: BlueprintLogRecord) => /^(err|fatal)/i.test(level)

const lineText = ({ timestamp_ms, level, message }: BlueprintLogRecord) =>
  [isoTime(timestamp_ms), level, message].filter(Boolean).join(' ')

/** The line that a build failed with: the last error, or else the last line. */
export const failingLine = (records: readonly BlueprintLogRecord[]): string | undefined =>
  (records.findLast(isError) ?? records.at(-1))?.message
