'use client'
import { memo, useMemo, useState } from 'react'
import { FilterInput } from '#components/filters/filter-input.tsx'
import { Check } from '#components/ui/choice/check.tsx'
import { FollowedLog } from '#components/ui/followed-log.tsx'
import { plainState, type StyledPiece, type StyleState, styledLines, styledPieces } from '#lib/console/live/ansi.ts'
import type { Segment, Transcript } from '#lib/console/live/transcript.ts'
import { formatCount } from '#lib/language/translate.ts'
import { StyledText } from '../styled-text.tsx'

interface CommandOutputProps {
  transcript: Transcript
  /** More may come. */
  isOpen: boolean
  /** What the service says it cut, besides what is dropped here. */
  cuts: readonly string[]
}

/** What a command has written; follows its end unless the reader has scrolled away from it. */
export const CommandOutput = ({ transcript, isOpen, cuts }: CommandOutputProps) => {
  const [search, setSearch] = useState<string>()
  const [wraps, setWraps] = useState(true)
  const segments = useMemo(() => styledSegments(transcript.segments), [transcript.segments])
  const lines = useMemo(() => (search ? segments.flatMap(linesOf) : null), [segments, search])
  const matches = useMemo(() => {
    const wanted = search?.toLowerCase() ?? ''
    return lines?.filter(({ text }) => text.toLowerCase().includes(wanted))
  }, [lines, search])
  if (transcript.length === 0)
    return <p className="border-t border-line px-3 py-2 text-sm text-muted">{isOpen ? 'No output yet' : 'No output'}</p>
  const space = wraps ? 'whitespace-pre-wrap break-all' : 'whitespace-pre'
  return (
    <div className="border-t border-line">
      {transcript.dropped > 0 && (
        <Cut>Truncated: the first {formatCount(transcript.dropped)} characters are not shown.</Cut>
      )}
      {cuts.map((cut) => (
        <Cut key={cut}>{cut}</Cut>
      ))}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-surface-1 px-3 py-1 text-sm text-muted">
        <FilterInput label="Search this output" value={search} onFilter={setSearch} className="w-56 max-sm:flex-1" />
        {lines && matches && (
          <span role="status" className="tabular">
            {formatCount(matches.length)} of {formatCount(lines.length)} lines
          </span>
        )}
        <Check label="Wrap lines" checked={wraps} onCheck={setWraps} />
      </div>
      <FollowedLog label="Output" end={transcript} className={`max-h-96 px-3 py-2 font-mono text-sm ${space}`}>
        {matches
          ? matches.map(({ key, stream, pieces }) => (
              <div key={key} className={stream === 'stderr' ? 'border-l-2 border-danger pl-2' : undefined}>
                {stream === 'stderr' && <span className="sr-only">stderr: </span>}
                <StyledText pieces={pieces} />
              </div>
            ))
          : segments.map(({ segment, pieces }) => (
              <Piece key={segment.index} stream={segment.stream} pieces={pieces} />
            ))}
      </FollowedLog>
    </div>
  )
}

const Cut = ({ children }: { children: React.ReactNode }) => (
  <p className="border-b border-line bg-surface-1 px-3 py-1 text-sm text-muted">{children}</p>
)

interface Line {
  key: string
  stream: Segment['stream']
  text: string
  pieces: readonly StyledPiece[]
}

const linesOf = ({ segment: { index, stream }, pieces }: Styled): Line[] =>
  styledLines(pieces).map((line, at) => ({
    key: `${index} ${at}`,
    stream,
    text: line.map(({ text }) => text).join(''),
    pieces: line,
  }))

interface Styled {
  segment: Segment
  from: StyleState
  pieces: readonly StyledPiece[]
  end: StyleState
}

/** Only the last segment changes while output comes. */
const known = new WeakMap<Segment, Styled>()

/** Each stream has a style of its own, which goes on in its next segment. */
const styledSegments = (segments: readonly Segment[]): Styled[] => {
  const states = { stdout: plainState, stderr: plainState }
  return segments.map((segment) => {
    const from = states[segment.stream]
    let styled = known.get(segment)
    if (styled?.from !== from) {
      styled = { segment, from, ...styledPieces(segment.text, from) }
      known.set(segment, styled)
    }
    states[segment.stream] = styled.end
    return styled
  })
}

const Piece = memo(({ stream, pieces }: { stream: Segment['stream']; pieces: readonly StyledPiece[] }) =>
  stream === 'stdout' ? (
    <span>
      <StyledText pieces={pieces} />
    </span>
  ) : (
    <span className="my-0.5 block border-l-2 border-danger pl-2">
      <span className="float-right ml-2 font-sans text-xs text-danger select-none">stderr</span>
      <StyledText pieces={pieces} />
    </span>
  ),
)
