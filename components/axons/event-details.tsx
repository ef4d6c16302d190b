'use client'
import { Link2 } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { cutEnd, visibleJson } from '#components/ui/text.ts'
import { formatExact } from '#components/ui/time-text.ts'
import { VisibleLines, VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatBytes, formatCount } from '#lib/browser/format.ts'
import type { AxonEvent } from '#lib/contract/axons.ts'
import { readPayload } from './event-rows.ts'
import { originLabel } from './origin-labels.ts'

/** Longer payloads would slow down the page. */
const maxShown = 100_000

export const EventDetails = ({ axonId, event }: { axonId: string; event: AxonEvent }) => {
  const { sequence, timestamp_ms, origin, source, event_type, payload } = event
  const [isRaw, setIsRaw] = useState(false)
  const read = useMemo(() => readPayload(payload), [payload])
  const text = useMemo(
    () => (read.kind === 'json' && !isRaw ? visibleJson(read.value) : payload),
    [read, isRaw, payload],
  )
  const bytes = useMemo(() => new TextEncoder().encode(payload).byteLength, [payload])
  return (
    <div className="space-y-2 px-3 pt-1 pb-3">
      <dl className="flex flex-wrap gap-x-6 gap-y-1 text-sm">
        <Fact label="Time">
          {formatExact(timestamp_ms)} (<RelativeTime ms={timestamp_ms} />)
        </Fact>
        <Fact label="Origin">{originLabel(origin)}</Fact>
        <Fact label="Source">
          <VisibleText max={300}>{source}</VisibleText>
        </Fact>
        <Fact label="Type">
          <VisibleText max={300}>{event_type}</VisibleText>
        </Fact>
        <Fact label="Payload">
          {read.kind === 'json' ? 'JSON' : 'Text'}, {formatBytes(bytes)}
        </Fact>
      </dl>
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
        tabIndex={0}
        aria-label={`Payload of event ${sequence}`}
        className="max-h-96 overflow-auto rounded-md border border-line bg-surface-0 px-3 py-2"
      >
        <pre className="font-mono text-sm break-words whitespace-pre-wrap">
          {read.kind === 'json' && !isRaw ? cutEnd(text, maxShown) : <VisibleLines max={maxShown}>{text}</VisibleLines>}
        </pre>
      </section>
      {text.length > maxShown && (
        <p className="text-sm text-muted">
          The first {formatCount(maxShown)} of {formatCount(text.length)} characters. Copy the payload to get all of it.
        </p>
      )}
      <div className="flex flex-wrap gap-1">
        {read.kind === 'json' && (
          <Button size="sm" variant="ghost" aria-pressed={isRaw} onClick={() => setIsRaw(!isRaw)}>
            {isRaw ? 'Show formatted' : 'Show original'}
          </Button>
        )}
        <CopyButton what="payload" text={() => payload} />
        <CopyButton
          what="link"
          text={() => new URL(paths.axon(axonId, 'events', sequence), location.href).href}
          icon={Link2}
        />
      </div>
    </div>
  )
}

const Fact = ({ label, children }: { label: string; children: ReactNode }) => (
  <div className="flex max-w-full min-w-0 gap-1.5">
    <dt className="shrink-0 text-muted">{label}</dt>
    <dd className="min-w-0 break-words">{children}</dd>
  </div>
)
