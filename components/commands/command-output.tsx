'use client'
import { memo, useMemo, useState } from 'react'
import { StyledText } from '#components/devboxes/log/styled-text.tsx'
import { FilterInput } from '#components/list/filter-fields.tsx'
import { Check } from '#components/ui/choice/check.tsx'
import { FollowedLog } from '#components/ui/followed-log.tsx'
import { formatCount } from '#lib/browser/format.ts'
import { type ConsoleLine, joinLines, lineSpans, plainLine } from '#lib/browser/text/console-text.ts'
import type { OutputStream, Segment, Transcript } from './transcript.ts'

interface CommandOutputProps {
  transcript: Transcript
  isOpen: boolean
  /** Streams the service truncated. */
  truncated: readonly OutputStream[]
}

export const CommandOutput = ({ transcript, isOpen, truncated }: CommandOutputProps) => {
  const [search, setSearch] = useState<string>()
  const [wraps, setWraps] = useState(true)
  const { segments } = transcript
  const lines = useMemo(() => (search ? segments.flatMap(linesOf) : null), [segments, search])
  const matches = useMemo(() => {
    const wanted = search?.toLowerCase() ?? ''
    return lines?.filter(({ line }) => plainLine(line).toLowerCase().includes(wanted))
  }, [lines, search])
  if (transcript.length === 0)
    return <p className="border-t border-line px-3 py-2 text-sm text-muted">{isOpen ? 'No output yet' : 'No output'}</p>
  const space = wraps ? 'whitespace-pre-wrap break-all' : 'whitespace-pre'
  return (
    <div className="border-t border-line">
      {transcript.dropped > 0 && (
        <Note>Truncated: the first {formatCount(transcript.dropped)} characters aren't shown.</Note>
      )}
      {truncated.length > 0 && <Note>The service kept only part of {truncated.join(' and ')}.</Note>}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-surface-1 px-3 py-1 text-sm text-muted">
        <FilterInput label="Search output" value={search} onFilter={setSearch} className="w-56 max-sm:flex-1" />
        {lines && matches && (
          <span role="status" className="tabular">
            {formatCount(matches.length)} of {formatCount(lines.length)} lines
          </span>
        )}
        <Check label="Wrap lines" checked={wraps} onCheck={setWraps} />
      </div>
      <FollowedLog label="Output" end={transcript} className={`max-h-96 px-3 py-2 font-mono text-sm ${space}`}>
        {matches
          ? matches.map(({ key, stream, line }) => (
              <div key={key} className={stream === 'stderr' ? 'border-l-2 border-danger pl-2' : undefined}>
                {stream === 'stderr' && <span className="sr-only">stderr: </span>}
                <StyledText spans={lineSpans(line)} />
              </div>
            ))
          : segments.map((segment) => <SegmentText key={segment.index} segment={segment} />)}
      </FollowedLog>
    </div>
  )
}

const Note = ({ children }: { children: React.ReactNode }) => (
  <p className="border-b border-line bg-surface-1 px-3 py-1 text-sm text-muted">{children}</p>
)

interface Line {
  key: string
  stream: Segment['stream']
  line: ConsoleLine
}

const linesOf = ({ index, stream, lines }: Segment): Line[] =>
  lines.map((line, at) => ({ key: `${index} ${at}`, stream, line }))

const SegmentText = memo(({ segment: { stream, lines } }: { segment: Segment }) => (
  <div className={stream === 'stderr' ? 'my-0.5 border-l-2 border-danger pl-2' : undefined}>
    {stream === 'stderr' && <span className="float-right ml-2 font-sans text-xs text-danger select-none">stderr</span>}
    <StyledText spans={joinLines(lines)} />
    {/* Gives an empty last line its height. */}
    {'\n'}
  </div>
))
