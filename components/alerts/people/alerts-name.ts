import { formatCountOf } from '#lib/browser/format.ts'
import { type Alert, nameInText } from '#lib/protocol/alerts.ts'
import { alertName } from '../alert-feed.ts'

/** "worker" or "3 alerts". */
export const alertsName = (alerts: readonly Alert[]): string => {
  const [first, ...others] = alerts
  return first && others.length === 0 ? nameInText(alertName(first)) : formatCountOf(alerts.length, 'alert')
}
