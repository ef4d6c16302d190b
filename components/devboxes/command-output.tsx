'use client'
import { Check, Copy } from 'lucide-react'
import { memo, useLayoutEffect, useRef } from 'react'
import { Button } from '#components/ui/button.tsx'
import { useCopy } from '#components/ui/use-copy.ts'
import { formatCount } from '#lib/console/frame/format.ts'
import { type Segment, type Transcript, transcriptText } from '#lib/console/live/transcript.ts'

/** What a command has written; follows its end unless the reader has scrolled away from it. */
export const CommandOutput = ({ transcript, isRunning }: { transcript: Transcript; isRunning: boolean }) => {
  const region = useRef<HTMLPreElement>(null)
  const isAtEnd = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the transcript is what moves the end
  useLayoutEffect(() => {
    if (isAtEnd.current && region.current) region.current.scrollTop = region.current.scrollHeight
  }, [transcript])
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
      <pre
        ref={region}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        role="log"
        aria-label="Output"
        aria-live="off"
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < 8
        }}
        className="max-h-96 overflow-auto px-3 py-2 font-mono text-sm whitespace-pre-wrap break-all -outline-offset-2"
      >
        {transcript.segments.map((segment) => (
          <Piece key={segment.index} segment={segment} />
        ))}
      </pre>
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

export const CopyOutput = ({ transcript }: { transcript: Transcript }) => {
  const { result, copy } = useCopy()
  return (
    <Button
      size="sm"
      variant="ghost"
      icon={result === 'copied' ? Check : Copy}
      onClick={() => void copy(transcriptText(transcript))}
    >
      {result === 'copied' ? 'Copied' : 'Copy output'}
    </Button>
  )
}
