export const alertPeriods = ['12h', '24h', '7d', 'month'] as const
export type AlertPeriod = (typeof alertPeriods)[number]

const hourMs = 3_600_000
const spansMs = { '12h': 12 * hourMs, '24h': 24 * hourMs, '7d': 7 * 24 * hourMs }

/** `month` is the calendar month in UTC. */
export const periodStartMs = (period: AlertPeriod, nowMs: number): number => {
  if (period !== 'month') return nowMs - spansMs[period]
  const now = new Date(nowMs)
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth())
}
