import { Activity } from 'lucide-react'
import { Popover } from '#components/ui/popover.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import type { Latency } from '#lib/terminal/page/pulse.ts'
import { type OpenedTerminal, useTerminalState } from '../pane/opened-terminal.ts'
import { BarButton } from './bar-button.tsx'

const staleMs = 12_000

/** Slower echoes are noticed while typing. */
const slowMs = 100

/** Round-trip time of a keystroke, without the shell's own time. Shown while it is slow or not measured. */
export const TerminalLatency = ({ opened }: { opened: OpenedTerminal }) => {
  const { latency, connection } = useTerminalState(opened.session)
  const isOld = useClock((nowMs) => latency !== null && nowMs - latency.atMs > staleMs)
  if (!latency) return null
  const isStale = isOld || connection.phase !== 'open'
  const { consoleMs, serviceMs, atMs } = latency
  if (!isStale && totalMs(latency) < slowMs) return null
  const amount = latencyText(latency)
  return (
    <Popover
      label="Latency"
      trigger={
        <BarButton
          icon={Activity}
          label="Latency"
          name={isStale ? `Latency ${amount}, not measured now` : `Latency ${amount}`}
          color="text-attention"
          figure={<span className={isStale ? 'line-through' : ''}>{amount}</span>}
        />
      }
    >
      <dl className="grid grid-cols-[1fr_auto] gap-x-4 gap-y-1">
        <dt className="text-muted">This page to the console</dt>
        <dd className="tabular text-right">{formatMs(consoleMs)}</dd>
        <dt className="text-muted">The console to the service</dt>
        <dd className="tabular text-right">{serviceMs === null ? 'not reported' : formatMs(serviceMs)}</dd>
      </dl>
      <p className="text-sm text-muted">
        Median of the last five round trips. Measured <RelativeTime ms={atMs} />.
      </p>
    </Popover>
  )
}

const totalMs = ({ consoleMs, serviceMs }: Latency): number => consoleMs + (serviceMs ?? 0)

export const latencyText = (latency: Latency): string => formatMs(totalMs(latency))

const formatMs = (ms: number): string => (ms < 1 ? '<1 ms' : ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`)
