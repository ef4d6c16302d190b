import { type AlertSummary, summaryOf } from '#lib/protocol/alert-outcomes.ts'
import { type AlertRecap, recapOf } from '#lib/protocol/alert-recap.ts'
import type { Receiver } from '#lib/protocol/alerts.ts'
import { type ShiftReport, shiftReportOf } from '#lib/protocol/shift-report.ts'
import type { AlertFilter, AlertStore } from './alert-store.ts'

interface Stored {
  store: AlertStore
  account: string
}

export const alertSummary = async ({ store, account }: Stored, filter: AlertFilter): Promise<AlertSummary> => {
  const { from_ms = null, to_ms = null } = filter
  return { from_ms, to_ms, ...summaryOf(await store.all(account, { ...filter, kind: 'eviction' })) }
}

export const alertRecap = async ({ store, account }: Stored, from_ms: number): Promise<AlertRecap> =>
  recapOf(await store.all(account, { closed_since_ms: from_ms }), from_ms)

export const shiftReport = async (
  { store, account }: Stored,
  receivers: readonly Receiver[],
  period: Parameters<typeof shiftReportOf>[1],
): Promise<ShiftReport> => {
  const { from_ms, to_ms } = period
  const alerts = await store.all(account, { from_ms })
  // An earlier failure or outage may still have been open.
  const earlier = (await store.all(account, { to_ms: from_ms })).filter(
    ({ closed_ms }) => closed_ms === null || closed_ms >= from_ms,
  )
  const counts = store.outbox.deliveryCounts(account, from_ms, to_ms)
  const prunedBeforeMs = store.prunedBeforeMs(account)
  return {
    ...shiftReportOf([...alerts, ...earlier], period),
    complete_from_ms: prunedBeforeMs !== null && prunedBeforeMs > from_ms ? prunedBeforeMs : null,
    receivers: receivers.map(({ id, name, format, host, failure, waiting }) => {
      const { delivered = 0, failed = 0 } = counts.get(id) ?? {}
      return { id, name, format, host, failure, waiting, delivered, failed }
    }),
  }
}
