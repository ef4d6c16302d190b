'use client'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { ChevronDown, ChevronUp, Download, Search, WrapText, X } from 'lucide-react'
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
import { CopyButton } from '#components/ui/copy-button.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Input } from '#components/ui/input.tsx'
import { isTyping } from '#components/ui/is-typing.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatBytes, formatCount, formatCountOf } from '#lib/browser/format.ts'
import { type ConsoleLine, plainLine } from '#lib/browser/text/console-text.ts'
import { isBinary } from '#lib/browser/text/decode.ts'
import type { RunLogFile } from '#lib/protocol/run-logs.ts'
import type { RunLogsParams } from '../run/search-params.ts'
import { LogLines } from './log-lines.tsx'
import { findInLog, readLog } from './log-text.ts'
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
  const { runId, path, file, onClose } = props
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
      <ErrorState title="Could not open the file" error={error} query={query} />
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
        <ErrorState compact title="Could not load the rest of the file" error={error} onRetry={fetchNextPage} />
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
