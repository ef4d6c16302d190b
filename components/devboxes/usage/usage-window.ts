import type { Devbox } from '#lib/contract/devboxes.ts'
import type { LogRecord } from '#lib/contract/logs.ts'
import type { Alert } from '#lib/protocol/alerts.ts'

/** A span of time that all charts show. */
export interface Window {
  fromMs: number
  toMs: number
}

/** As in the address: empty for everything, `15m` for the last 15 minutes, or `FROM-TO` in milliseconds. */
export type WindowText = string

export const presets = [
  { value: '', label: 'All data', ms: Number.POSITIVE_INFINITY },
  { value: '15m', label: 'Last 15 minutes', ms: 15 * 60_000 },
  { value: '1h', label: 'Last hour', ms: 60 * 60_000 },
  { value: '6h', label: 'Last 6 hours', ms: 6 * 60 * 60_000 },
] as const

/** Shortest window: two samples of the local service. */
export const minWindowMs = 60_000

/** The window that `text` names, within the time that has samples. */
export const windowOf = (text: WindowText, all: Window): Window => {
  const [, from, to] = /^(\d{1,16})-(\d{1,16})$/.exec(text) ?? []
  if (from !== undefined && to !== undefined && Number(from) < Number(to))
    return fitted({ fromMs: Number(from), toMs: Number(to) }, all)
  const preset = presets.find(({ value }) => value === text)
  return { fromMs: Math.max(all.fromMs, all.toMs - (preset?.ms ?? Number.POSITIVE_INFINITY)), toMs: all.toMs }
}

export const textOf = ({ fromMs, toMs }: Window): WindowText => `${Math.round(fromMs)}-${Math.round(toMs)}`

/** Moves and, if necessary, widens or cuts a window so that it is within `all`. */
export const fitted = ({ fromMs, toMs }: Window, all: Window): Window => {
  const span = Math.min(Math.max(toMs - fromMs, minWindowMs), all.toMs - all.fromMs)
  const from = Math.min(Math.max(fromMs, all.fromMs), all.toMs - span)
  return { fromMs: from, toMs: from + span }
}

export const isWithin = (atMs: number, { fromMs, toMs }: Window): boolean => atMs >= fromMs && atMs <= toMs

export interface Statistics {
  mean: number
  p95: number
  max: number
}

/** Mean, 95th percentile (nearest rank) and maximum of equally spaced values. */
export const statisticsOf = (values: readonly number[]): Statistics | undefined => {
  if (values.length === 0) return undefined
  const sorted = values.toSorted((a, b) => a - b)
  const rank = Math.ceil(0.95 * sorted.length) - 1
  return {
    mean: values.reduce((sum, value) => sum + value, 0) / values.length,
    p95: sorted[rank] ?? 0,
    max: sorted.at(-1) ?? 0,
  }
}

/** Something that happened to the devbox and may explain its usage. */
export interface UsageEvent {
  atMs: number
  kind: 'state' | 'command' | 'exit' | 'snapshot' | 'eviction'
  label: string
}

export const stateEvents = ({ state_transitions }: Pick<Devbox, 'state_transitions'>): UsageEvent[] =>
  state_transitions.flatMap(({ status, transition_time_ms }) =>
    status && transition_time_ms !== undefined ? [{ atMs: transition_time_ms, kind: 'state', label: status }] : [],
  )

export const snapshotEvents = (snapshots: readonly { create_time_ms: number; name?: string | null }[]): UsageEvent[] =>
  snapshots.map(({ create_time_ms, name }) => ({
    atMs: create_time_ms,
    kind: 'snapshot',
    label: name ? `Snapshot ${name}` : 'Snapshot',
  }))

/** When each eviction was announced, and the deadlines that suspended the devbox. */
export const evictionEvents = (
  alerts: readonly Pick<Alert, 'kind' | 'state' | 'first_heard_ms' | 'deadline_ms'>[],
): UsageEvent[] =>
  alerts
    .filter(({ kind }) => kind === 'eviction')
    .flatMap(({ state, first_heard_ms, deadline_ms }): UsageEvent[] => [
      { atMs: first_heard_ms, kind: 'eviction', label: 'Eviction announced' },
      ...(state === 'ended' ? [{ atMs: deadline_ms, kind: 'eviction', label: 'Evicted' } as const] : []),
    ])

const maxLabelLength = 120

export const commandEvents = (records: readonly LogRecord[]): UsageEvent[] =>
  records.flatMap(({ timestamp_ms, cmd, exit_code }): UsageEvent[] => {
    if (cmd != null)
      return [{ atMs: timestamp_ms, kind: 'command', label: `$ ${cmd.split('\n', 1)[0]?.slice(0, maxLabelLength)}` }]
    return exit_code == null ? [] : [{ atMs: timestamp_ms, kind: 'exit', label: `Exit ${exit_code}` }]
  })
