'use client'
import { memo } from 'react'
import { FollowedLog } from '#components/ui/followed-log.tsx'
import { formatCount } from '#lib/console/frame/format.ts'
import type { Segment, Transcript } from '#lib/console/live/transcript.ts'

/** What a command has written; follows its end unless the reader has scrolled away from it. */
export const CommandOutput = ({ transcript, isRunning }: { transcript: Transcript; isRunning: boolean }) => {
  if (transcript.length === 0)
    return (
      <p className="border-t border-line px-3 py-2 text-sm text-muted">{isRunning ? 'No output yet' : 'No output'}</p>
    )
  return (
    <div className="border-t border-line">
      {transcript.dropped > 0 && (
        <p className="border-b border-line bg-surface-1 px-3 py-1 text-sm text-muted">
          Truncated: the first {formatCount(transcript.dropped)} characters are not shown.
        </p>
      )}
      <FollowedLog
        label="Output"
        end={transcript}
        className="max-h-96 px-3 py-2 font-mono text-sm whitespace-pre-wrap break-all"
      >
        {transcript.segments.map((segment) => (
          <Piece key={segment.index} segment={segment} />
        ))}
      </FollowedLog>
    </div>
  )
}

const Piece = memo(({ segment: { stream, text } }: { segment: Segment }) =>
  stream === 'stdout' ? (
    <span>{text}</span>
  ) : (
    <span className="my-0.5 block border-l-2 border-danger pl-2">
      <span className="float-right ml-2 font-sans text-xs text-danger select-none">stderr</span>
      {text}
    </span>
  ),
)
