'use client'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type MouseEvent, useEffect, useMemo, useRef } from 'react'
import { classes } from '#components/ui/classes.ts'
import { FollowedLog } from '#components/ui/followed-log.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/browser/format.ts'
import { type ConsoleLine, lineLength, lineSpans, plainLine } from '#lib/browser/text/console-text.ts'
import { cssOf } from '#lib/browser/text/text-style.ts'
import { type LogMatch, markedSpans, maxLineLength } from './log-text.ts'

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

export const LogLines = (props: LogLinesProps) => {
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
