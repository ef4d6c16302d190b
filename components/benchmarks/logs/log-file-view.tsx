'use client'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { ChevronDown, ChevronUp, Clapperboard, Download, FileText, Search, WrapText, X } from 'lucide-react'
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useDeferredValue,
  useEffect,
  useEffectEvent,
  useMemo,
  useRef,
  useState,
} from 'react'
import type { HowToChange } from '#components/list/use-address.ts'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { classes } from '#components/ui/classes.ts'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { FollowedLog } from '#components/ui/followed-log.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Input } from '#components/ui/input.tsx'
import { isTyping } from '#components/ui/is-typing.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatBytes, formatCount, formatCountOf } from '#lib/browser/format.ts'
import { type ConsoleLine, lineLength, lineSpans, plainLine } from '#lib/browser/text/console-text.ts'
import { isBinary } from '#lib/browser/text/decode.ts'
import { cssOf } from '#lib/browser/text/text-style.ts'
import type { RunLogFile } from '#lib/protocol/run-logs.ts'
import type { RunLogsParams } from '../run/search-params.ts'
import { isRecording, LogRecording } from './log-recording.tsx'
import { findInLog, type LogMatch, markedSpans, maxLineLength, readLog } from './log-text.ts'
import { maxShownBytes, runLogAddress, runLogQueries } from './queries.ts'

interface LogFileViewProps {
  runId: string
  isActive: boolean
  path: string
  file: RunLogFile | undefined
  view: RunLogsParams
  change: (part: Partial<RunLogsParams>, how: HowToChange) => void
  followHere: (event: MouseEvent) => void
  hrefOf: (line: number) => string
  onChanged: () => void
  onClose: () => void
}

export const LogFileView = (props: LogFileViewProps) => {
  const { runId, path, file, view, onClose } = props
  const isCast = isRecording({ path })
  const [isPlayer, setIsPlayer] = useState(isCast && view.line === undefined && !view.search)
  return (
    <section aria-label="File" className="min-w-0 space-y-2">
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="min-w-0 font-mono text-sm font-medium break-all">
          <VisibleText max={400}>{path}</VisibleText>
        </h2>
        {file && (
          <p className="tabular text-sm text-muted">
            {formatBytes(file.size_bytes)}
            {file.modified_ms !== null && (
              <>
                , modified <RelativeTime ms={file.modified_ms} />
              </>
            )}
          </p>
        )}
        <span className="ml-auto flex items-center gap-1">
          {isCast && (
            <Button size="sm" icon={isPlayer ? FileText : Clapperboard} onClick={() => setIsPlayer(!isPlayer)}>
              {isPlayer ? 'Show as text' : 'Play recording'}
            </Button>
          )}
          <CopyButton what="path" text={() => path} />
          {file && file.refusal === null && (
            <ButtonLink size="sm" icon={Download} href={runLogAddress(runId, path)} prefetch={false} download>
              Download file
            </ButtonLink>
          )}
          <IconButton size="sm" icon={X} label="Close file" onClick={onClose} />
        </span>
      </div>
      {file === undefined ? (
        <BoxedNote role="alert">This file isn't in the archive yet.</BoxedNote>
      ) : file.refusal !== null ? (
        <BoxedNote role="alert">
          This file can't be opened here: it {file.refusal}. Download the archive to read it.
        </BoxedNote>
      ) : isPlayer ? (
        <LogRecording address={runLogAddress(runId, path)} file={file} />
      ) : (
        <Content {...props} file={file} />
      )}
    </section>
  )
}

const Content = ({
  runId,
  isActive,
  file,
  view,
  change,
  followHere,
  hrefOf,
  onChanged,
}: LogFileViewProps & { file: RunLogFile }) => {
  const [isFollowing, setIsFollowing] = useState(isActive && view.line === undefined)
  const query = useInfiniteQuery({ ...runLogQueries.file(runId, file), placeholderData: keepPreviousData })
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, isPlaceholderData } = query
  const pieces = data?.pages
  const bytes = pieces?.reduce((sum, { length }) => sum + length, 0) ?? 0
  const lines = useMemo(() => readLog(pieces ?? []), [pieces])
  const { line } = view
  const needsMore = (line !== undefined && line > lines.length) || (isActive && isFollowing)
  useEffect(() => {
    if (pieces && needsMore && hasNextPage && !isFetchingNextPage && !isPlaceholderData && !error) void fetchNextPage()
  }, [pieces, needsMore, hasNextPage, isFetchingNextPage, isPlaceholderData, error, fetchNextPage])
  const hasChanged = error !== null && 'code' in error && error.code === 'conflict'
  const notifyChanged = useEffectEvent(onChanged)
  useEffect(() => {
    if (hasChanged) notifyChanged()
  }, [hasChanged])
  const find = useFind(lines, view.search ?? '')
  const [wraps, setWraps] = useState(true)
  const field = useRef<HTMLInputElement>(null)
  if (!pieces)
    return error ? (
      <ErrorState title="Couldn't open the file" error={error} query={query} />
    ) : (
      <BoxedNote role="status">Loading file…</BoxedNote>
    )
  if (pieces[0] && isBinary(pieces[0]))
    return <BoxedNote>Binary file. Download it to open it in another program.</BoxedNote>
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || isTyping(event.target as Element)) return
    event.preventDefault()
    event.stopPropagation()
    field.current?.focus()
  }
  const isCut = bytes < file.size_bytes
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: handles a key for everything inside
    <div onKeyDown={onKeyDown} className="space-y-2">
      <div className="flex flex-wrap items-center gap-2">
        <Input
          ref={field}
          type="search"
          icon={Search}
          aria-label="Search in the file"
          placeholder="Search in the file"
          className="min-w-0 basis-56 max-sm:basis-full"
          value={view.search ?? ''}
          onChange={({ target }) => {
            find.restart()
            change({ search: target.value || undefined }, 'type')
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return
            event.preventDefault()
            find.step(event.shiftKey ? -1 : 1)
          }}
        />
        <IconButton
          icon={ChevronUp}
          label="Previous match"
          disabledReason={find.matches.length === 0 ? 'No matches' : null}
          onClick={() => find.step(-1)}
        />
        <IconButton
          icon={ChevronDown}
          label="Next match"
          disabledReason={find.matches.length === 0 ? 'No matches' : null}
          onClick={() => find.step(1)}
        />
        <p role="status" className="tabular text-sm text-muted">
          {view.search ? find.summary : formatCountOf(lines.length, 'line')}
          {isCut && ` in the first ${formatBytes(bytes)}`}
        </p>
        <span className="ml-auto">
          <CopyButton what="text" text={() => lines.map(plainLine).join('\n')} />
        </span>
        <Button size="sm" variant="ghost" icon={WrapText} aria-pressed={wraps} onClick={() => setWraps(!wraps)}>
          {wraps ? 'Wrap: on' : 'Wrap: off'}
        </Button>
      </div>
      {lines.length === 0 ? (
        <BoxedNote>The file is empty.</BoxedNote>
      ) : (
        <LogLines
          lines={lines}
          matches={find.matches}
          current={find.current}
          line={line}
          wraps={wraps}
          startsAtEnd={isFollowing}
          onFollowing={setIsFollowing}
          hrefOf={hrefOf}
          onLink={followHere}
        />
      )}
      {error && !hasChanged ? (
        <ErrorState compact title="Couldn't load the rest of the file" error={error} onRetry={fetchNextPage} />
      ) : (
        isCut && (
          <p className="flex flex-wrap items-center gap-3 text-sm text-attention">
            Showing the first {formatBytes(bytes)} of {formatBytes(file.size_bytes)}
            {hasNextPage
              ? '.'
              : `, which is as much as a page holds (${formatBytes(maxShownBytes)}): download the file.`}
            {hasNextPage && (
              <Button size="sm" busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
                Show more
              </Button>
            )}
          </p>
        )
      )}
      {line !== undefined && line > lines.length && !hasNextPage && (
        <p role="alert" className="text-sm text-attention">
          The file has no line {formatCount(line)}
          {isCut ? ' in what is shown of it.' : `; it has ${formatCount(lines.length)}.`}
        </p>
      )}
    </div>
  )
}

const useFind = (lines: readonly ConsoleLine[], text: string) => {
  const needle = useDeferredValue(text)
  const matches = useMemo(() => findInLog(lines, needle), [lines, needle])
  const [at, setAt] = useState<number | null>(null)
  const index = at === null || matches.length === 0 ? null : Math.min(at, matches.length - 1)
  const count = matches.length
  return {
    matches,
    current: index === null ? undefined : matches[index],
    summary:
      index === null
        ? formatCountOf(count, 'match', 'matches')
        : `${formatCount(index + 1)} of ${formatCount(count)} matches`,
    restart: () => setAt(null),
    step: (by: 1 | -1) => {
      if (count > 0) setAt(index === null ? (by === 1 ? 0 : count - 1) : (index + by + count) % count)
    },
  }
}

export const BoxedNote = ({ role, children }: { role?: 'alert' | 'status'; children: ReactNode }) => (
  <p role={role} className="tabular rounded-md border border-line px-3 py-10 text-center text-muted">
    {children}
  </p>
)

interface LogLinesProps {
  lines: readonly ConsoleLine[]
  matches: readonly LogMatch[]
  current: LogMatch | undefined
  line: number | undefined
  wraps: boolean
  startsAtEnd: boolean
  onFollowing: (isFollowing: boolean) => void
  hrefOf: (line: number) => string
  onLink: (event: MouseEvent) => void
}

const lineHeight = 24

const LogLines = (props: LogLinesProps) => {
  const { lines, matches, current, line, wraps, startsAtEnd, onFollowing, hrefOf, onLink } = props
  const region = useRef<HTMLDivElement>(null)
  const count = lines.length
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => region.current,
    estimateSize: () => lineHeight,
    overscan: 20,
  })
  const scrollTo = useRef((index: number) => virtualizer.scrollToIndex(index, { align: 'center' }))
  const target = line !== undefined && line <= count ? line : undefined
  useEffect(() => {
    if (target !== undefined) scrollTo.current(target - 1)
  }, [target])
  useEffect(() => {
    if (current) scrollTo.current(current.line)
  }, [current])
  // biome-ignore lint/correctness/useExhaustiveDependencies: wrapping changes the heights
  useEffect(() => virtualizer.measure(), [wraps])
  const byLine = useMemo(() => Map.groupBy(matches, (match) => match.line), [matches])
  const width = useMemo(
    () => (wraps ? 0 : lines.reduce((most, text) => Math.max(most, Math.min(lineLength(text), maxLineLength)), 0)),
    [lines, wraps],
  )
  const digits = String(count).length
  const size = virtualizer.getTotalSize()
  return (
    <FollowedLog
      label="Lines of the file"
      end={`${count} ${size}`}
      region={region}
      startsAtEnd={startsAtEnd}
      onFollowing={onFollowing}
      endWord="Go to the end"
      className="h-[min(70dvh,48rem)] rounded-md border border-line bg-surface-0 font-mono text-sm"
    >
      <div className="relative" style={{ height: size, minWidth: wraps ? undefined : `${width + digits + 6}ch` }}>
        {virtualizer.getVirtualItems().map(({ index, start }) => (
          <div
            key={index}
            ref={virtualizer.measureElement}
            data-index={index}
            data-line={index + 1}
            aria-current={index + 1 === line ? 'location' : undefined}
            style={{ transform: `translateY(${start}px)` }}
            className={classes(
              'absolute inset-x-0 top-0 flex min-h-6 gap-3 pr-3 leading-6',
              index + 1 === line && 'bg-accent-soft',
            )}
          >
            <a
              href={hrefOf(index + 1)}
              onClick={onLink}
              aria-label={`Line ${index + 1}`}
              style={{ width: `${digits + 2}ch` }}
              className="tabular shrink-0 text-right text-muted select-none hover:text-accent hover:underline"
            >
              {index + 1}
            </a>
            <Line line={lines[index] ?? ''} matches={byLine.get(index) ?? []} current={current} wraps={wraps} />
          </div>
        ))}
      </div>
    </FollowedLog>
  )
}

interface LineProps extends Pick<LogLinesProps, 'matches' | 'current' | 'wraps'> {
  line: ConsoleLine
}

const Line = ({ line, matches, current, wraps }: LineProps) => {
  const spans = markedSpans(lineSpans(line), matches)
  const rest = plainLine(line).length - maxLineLength
  return (
    <span className={classes('min-w-0', wraps ? 'wrap-anywhere whitespace-pre-wrap' : 'whitespace-pre')}>
      {spans.map(({ at, text, style, match }) =>
        match ? (
          <mark
            key={at}
            className={classes(
              'rounded-xs text-text',
              match === current ? 'bg-attention-bg outline-2 outline-attention' : 'bg-attention-bg underline',
            )}
          >
            {text}
          </mark>
        ) : (
          <span key={at} style={cssOf(style)}>
            <VisibleText>{text.replaceAll('\t', '    ')}</VisibleText>
          </span>
        ),
      )}
      {rest > 0 && <span className="text-attention"> … {formatCount(rest)} more characters not shown</span>}
    </span>
  )
}
