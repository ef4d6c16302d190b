import { formatCountOf, formatElapsedMs } from '#lib/browser/format.ts'
import { type Alert, isSilenced, nameInText } from '#lib/protocol/alerts.ts'
import { alertName } from './alert-feed.ts'

export const coveredBy = (alerts: readonly Alert[], metadata: Record<string, string>): Alert[] =>
  Object.keys(metadata).length === 0 ? [] : alerts.filter((alert) => isSilenced(alert, [{ metadata, until_ms: 1 }], 0))

const losses = [
  { kind: 'end', verb: 'deleted' },
  { kind: 'eviction', verb: 'evicted' },
] as const

const maxNames = 5
const minuteMs = 60_000

/** Deadlines of `covered` that pass during a silence: "2 devboxes will be evicted while silenced, the first in 12 min: api, db". */
export const missedDeadlines = (covered: readonly Alert[], nowMs: number, untilMs: number): string[] =>
  losses.flatMap(({ kind, verb }) => {
    const missed = covered
      .filter((alert) => alert.kind === kind && alert.deadline_ms > nowMs && alert.deadline_ms <= untilMs)
      .sort((a, b) => a.deadline_ms - b.deadline_ms)
    const [first] = missed
    if (!first) return []
    // Whole minutes, because screen readers announce each change.
    const leftMs = Math.max(1, Math.floor((first.deadline_ms - nowMs) / minuteMs)) * minuteMs
    const left = `${missed.length > 1 ? 'the first ' : ''}in ${formatElapsedMs(leftMs)}`
    const names = missed.slice(0, maxNames).map((alert) => nameInText(alertName(alert)))
    if (missed.length > maxNames) names.push(`${missed.length - maxNames} more`)
    return `${formatCountOf(missed.length, 'devbox', 'devboxes')} will be ${verb} while silenced, ${left}: ${names.join(', ')}`
  })
