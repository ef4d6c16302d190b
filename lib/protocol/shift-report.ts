import { alertKinds } from './alert-labels.ts'
import {
  isEvicted,
  isInterrupted,
  isPractice,
  isUnattended,
  occurredMs,
  quantileMs,
  responseMs,
} from './alert-outcomes.ts'
import type { Alert, AlertEntry, AlertKind, AlertState, Receiver } from './alerts.ts'

/** Alerts of a period, without drills and test alerts unless stated. */
export interface ShiftReport {
  from_ms: number
  to_ms: number
  /** The oldest stored alert, if older ones of the period may have been pruned. */
  complete_from_ms: number | null
  /** Alerts of the period by kind and state: those due, closed or happened in it, and those still open at its end. */
  kinds: { kind: AlertKind; count: number; states: Partial<Record<AlertState, number>> }[]
  open: Listed<Alert>
  /** First alarm to first acknowledgment, of the alerts raised in the period. */
  response: {
    raised: number
    acknowledged: number
    median_ms: number | null
    p90_ms: number | null
    longest: { ms: number; alert: Alert } | null
  }
  unattended: Listed<Alert>
  people: Listed<PersonReport>
  hand_overs: Listed<NamedEntry>
  comments: Listed<NamedEntry>
  /** `of` are the evictions that happened; `unknown` of them reported no running commands. */
  interrupted: Listed<Alert> & { of: number; commands: number; unknown: number }
  /** Devboxes shut down by their keep-alive or idle time, with their disks. */
  deleted: Listed<Alert> & { of: number }
  failed: Listed<Alert>
  outages: Listed<Alert> & { total_ms: number }
  silences: { by: string | null; comment: string; alerts: number }[]
  receivers: ReceiverReport[]
  practice: { drills: number; tests: number; response: { n: number; median_ms: number | null } }
}

/** All are counted; at most `maxListed` are listed. */
export interface Listed<Item> {
  count: number
  items: Item[]
}

/** Deliveries of the period, and the state now. Deliveries are kept for a week. */
export interface ReceiverReport extends Pick<Receiver, 'id' | 'name' | 'format' | 'host' | 'failure' | 'waiting'> {
  delivered: number
  failed: number
}

export interface PersonReport {
  name: string
  acknowledged: Listed<Alert>
  handed_over: number
  received: number
  commented: number
  /** Devboxes suspended or shut down before their deadline. */
  stopped: number
}

export interface NamedEntry {
  alert: Alert
  entry: AlertEntry
}

export const maxListed = 20

interface Period {
  from_ms: number
  to_ms: number
  now_ms: number
}

type Report = Omit<ShiftReport, 'complete_from_ms' | 'receivers'>

/** `stored` are alerts that occurred from `from_ms` on or were open then; later ones count only while open at `to_ms`. */
export const shiftReportOf = (stored: readonly Alert[], { from_ms, to_ms, now_ms }: Period): Report => {
  const isWithin = (ms: number) => ms >= from_ms && ms < to_ms
  const all = stored.filter((alert) => isWithin(occurredMs(alert)) || alert.first_heard_ms < to_ms)
  const alerts = all.filter((alert) => !isPractice(alert)).sort((a, b) => occurredMs(a) - occurredMs(b))
  const drills = all.filter(({ is_drill }) => is_drill)
  const happened = alerts.filter((alert) => isWithin(occurredMs(alert)))

  const raised = alerts.filter(({ first_heard_ms, alarms }) => isWithin(first_heard_ms) && alarms > 0)
  const responses = raised.flatMap((alert) => {
    const ms = responseMs(alert)
    return ms === undefined ? [] : [{ ms, alert }]
  })
  const times = responses.map(({ ms }) => ms)
  const drillTimes = drills.flatMap((alert) => responseMs(alert) ?? [])

  const entries = alerts.flatMap((alert) =>
    entriesOf(alert)
      .filter(({ at_ms }) => isWithin(at_ms))
      .map((entry) => ({ alert, entry })),
  )
  const entriesThat = (what: AlertEntry['what']) =>
    entries.filter(({ entry }) => entry.what === what).sort((a, b) => a.entry.at_ms - b.entry.at_ms)

  const evicted = happened.filter(isEvicted)
  const interrupted = evicted.filter(isInterrupted)
  const ends = happened.filter(({ kind, state }) => kind === 'end' && state !== 'moved')
  const outages = alerts.filter(({ kind }) => kind === 'watch')
  const outageEnd = ({ closed_ms }: Alert) => Math.min(closed_ms ?? now_ms, to_ms)

  return {
    from_ms,
    to_ms,
    kinds: alertKinds.flatMap((kind) => {
      const ofKind = alerts.filter((alert) => alert.kind === kind)
      return ofKind.length === 0 ? [] : [{ kind, count: ofKind.length, states: countBy(ofKind, ({ state }) => state) }]
    }),
    open: listed(alerts.filter(({ closed_ms }) => closed_ms === null || closed_ms >= to_ms)),
    response: {
      raised: raised.length,
      acknowledged: responses.length,
      median_ms: quantileMs(times, 0.5),
      p90_ms: quantileMs(times, 0.9),
      longest: responses.toSorted((a, b) => b.ms - a.ms)[0] ?? null,
    },
    unattended: listed(happened.filter(isUnattended)),
    people: listed(peopleOf(entries, happened)),
    hand_overs: listed(entriesThat('handed_over')),
    comments: listed(entriesThat('commented')),
    interrupted: {
      ...listed(interrupted),
      of: evicted.length,
      commands: interrupted.reduce((sum, { work }) => sum + (work?.commands ?? 0), 0),
      unknown: evicted.filter(({ work }) => work === undefined).length,
    },
    deleted: { ...listed(ends.filter(({ state }) => state === 'ended')), of: ends.length },
    failed: listed(happened.filter(({ kind }) => kind === 'failure')),
    outages: {
      ...listed(outages),
      total_ms: outages.reduce(
        (sum, alert) => sum + Math.max(0, outageEnd(alert) - Math.max(alert.deadline_ms, from_ms)),
        0,
      ),
    },
    silences: silencesOf(alerts),
    practice: {
      drills: drills.length,
      tests: all.filter(({ kind }) => kind === 'test').length,
      response: { n: drillTimes.length, median_ms: quantileMs(drillTimes, 0.5) },
    },
  }
}

const listed = <Item>(all: readonly Item[]): Listed<Item> => ({ count: all.length, items: all.slice(0, maxListed) })

const countBy = <Item, Key extends string>(items: readonly Item[], keyOf: (item: Item) => Key) =>
  Object.fromEntries([...Map.groupBy(items, keyOf)].map(([key, found]) => [key, found.length])) as Partial<
    Record<Key, number>
  >

/** Alerts of older versions have no log, only the last acknowledgment. Earlier entries belong to the previous deadline. */
const entriesOf = ({ log, first_heard_ms, acknowledged_ms, acknowledged_by }: Alert): readonly AlertEntry[] => {
  const entries: readonly AlertEntry[] =
    log ?? (acknowledged_ms === null ? [] : [{ at_ms: acknowledged_ms, what: 'acknowledged', by: acknowledged_by }])
  return entries.filter(({ at_ms }) => at_ms >= first_heard_ms)
}

/** Busiest first. */
const peopleOf = (entries: readonly NamedEntry[], happened: readonly Alert[]): PersonReport[] => {
  const people = new Map<string, Omit<PersonReport, 'acknowledged'> & { acknowledged: Set<Alert> }>()
  const person = (name: string) => {
    const found = people.get(name) ?? {
      name,
      acknowledged: new Set(),
      handed_over: 0,
      received: 0,
      commented: 0,
      stopped: 0,
    }
    people.set(name, found)
    return found
  }
  for (const { alert, entry } of entries) {
    const { what, by, to } = entry
    if (by === null) continue
    if (what === 'acknowledged') person(by).acknowledged.add(alert)
    if (what === 'commented') person(by).commented += 1
    if (what === 'handed_over') {
      person(by).handed_over += 1
      if (to !== undefined) person(to).received += 1
    }
  }
  for (const { stopped } of happened) if (stopped?.by) person(stopped.by).stopped += 1
  return [...people.values()]
    .map(({ acknowledged, ...rest }) => ({ ...rest, acknowledged: listed([...acknowledged]) }))
    .sort((a, b) => b.acknowledged.count - a.acknowledged.count || (a.name < b.name ? -1 : 1))
}

const silencesOf = (alerts: readonly Alert[]) => {
  const covered = alerts.flatMap((alert) => (alert.log ?? []).filter(({ what }) => what === 'silenced'))
  return [...Map.groupBy(covered, ({ by, text = '' }) => `${by}\n${text}`).values()].map((entries) => ({
    by: entries[0]?.by ?? null,
    comment: entries[0]?.text ?? '',
    alerts: entries.length,
  }))
}
