import { Activity } from 'lucide-react'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'
import { useTerminalState } from '../pane/use-terminal-state.ts'
import { StatusPopover } from './status-popover.tsx'

/** Two missed measurements. */
const staleMs = 12_000

/** Noticeable and disturbing delays. */
const levels = [
  { belowMs: 100, word: 'fast', color: 'text-ok' },
  { belowMs: 300, word: 'slow', color: 'text-attention' },
  { belowMs: Number.POSITIVE_INFINITY, word: 'very slow', color: 'text-danger' },
]

/** Round-trip time of a keystroke, without the shell's own time. */
export const TerminalLatency = ({ opened }: { opened: OpenedTerminal }) => {
  const { latency, connection } = useTerminalState(opened.session)
  const isOld = useClock((nowMs) => latency !== null && nowMs - latency.atMs > staleMs)
  if (!latency) return null
  const isStale = isOld || connection.phase !== 'open'
  const { consoleMs, serviceMs, atMs } = latency
  const totalMs = consoleMs + (serviceMs ?? 0)
  const level = levels.find(({ belowMs }) => totalMs < belowMs)
  const amount = formatMs(totalMs)
  const word = isStale ? 'not measured now' : (level?.word ?? '')
  return (
    <StatusPopover
      label="Latency"
      icon={Activity}
      name={`Latency ${amount}, ${word}`}
      color={isStale ? undefined : level?.color}
      figure={
        <span className={isStale ? 'line-through' : ''}>
          {isStale || totalMs < 100 ? amount : `${amount}, ${word}`}
        </span>
      }
    >
      <dl className="grid grid-cols-[1fr_auto] gap-x-4 gap-y-1">
        <dt className="text-muted">This page to the console</dt>
        <dd className="tabular text-right">{formatMs(consoleMs)}</dd>
        <dt className="text-muted">The console to the service</dt>
        <dd className="tabular text-right">{serviceMs === null ? 'not told' : formatMs(serviceMs)}</dd>
      </dl>
      <p className="text-sm text-muted">
        Round trips, the middle of the last five. Measured <RelativeTime ms={atMs} />.
      </p>
    </StatusPopover>
  )
}

const formatMs = (ms: number): string => (ms < 1 ? '<1 ms' : ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`)
