'use client'
import type { ReactNode } from 'react'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { type AlertFeed, alarmOf, alertLeftMs, alertName } from '#lib/console/alerts/alert-feed.ts'
import { alertSettings, playAlertSound } from '#lib/console/alerts/alert-settings.ts'
import { formatCountdown } from '#lib/console/live/eviction-feed.ts'
import { type Alert, lastCallMs } from '#lib/wire/alerts.ts'
import { Countdown } from './countdown.tsx'

export { claimAlarms } from '#lib/console/alerts/announced.ts'

/** Beyond this many at once, one toast speaks for all. */
const maxToasts = 3
const toastMs = 30_000

/** Makes alarms heard in this tab: by toasts, and by what the settings of this browser allow. */
export const tell = (alerts: readonly Alert[], feed: AlertFeed, show: (alert: Alert) => void) => {
  const { notifications, sound } = alertSettings.read()
  if (sound) void playAlertSound().catch(() => undefined)
  if (notifications) for (const alert of alerts) notify(alert, alertLeftMs(feed, alert, Date.now()), () => show(alert))
  const [first] = alerts
  if (!first) return
  const leftMs = alertLeftMs(feed, first, Date.now())
  if (alerts.length > maxToasts) {
    toast.attention(
      <News alert={first} leftMs={leftMs}>
        {alerts.length} devboxes will be evicted, the first
      </News>,
      {
        id: alarmOf(first),
        description: 'They will be suspended: their disks stay, their processes end.',
        action: { label: 'Show evictions', onClick: () => show(first) },
        durationMs: Math.min(toastMs, leftMs),
      },
    )
    return
  }
  for (const alert of alerts) {
    const ownMs = alertLeftMs(feed, alert, Date.now())
    toast.attention(
      alert.kind === 'test' ? (
        <span role="alert">Test alert: this is how an eviction is announced</span>
      ) : (
        <News alert={alert} leftMs={ownMs}>
          <VisibleText max={60}>{alertName(alert)}</VisibleText> will be evicted
        </News>
      ),
      {
        id: alarmOf(alert),
        description: alert.kind === 'test' ? undefined : 'It will be suspended: its disk stays, its processes end.',
        action: { label: 'Show alert', onClick: () => show(alert) },
        durationMs: Math.min(toastMs, ownMs),
      },
    )
  }
}

/** The alert is read out once, with the time as it was then; what ticks stands beside it. */
const News = ({ alert, leftMs, children }: { alert: Alert; leftMs: number; children: ReactNode }) => (
  <>
    <span role="alert">
      {children} <span className="sr-only">in {formatCountdown(leftMs)}</span>
    </span>
    in <Countdown deadlineMs={alert.deadline_ms} />
  </>
)

const notify = (alert: Alert, leftMs: number, show: () => void) => {
  if (!('Notification' in globalThis) || Notification.permission !== 'granted') return
  const title =
    alert.kind === 'test' ? 'Test alert' : `${alertName(alert)} will be evicted in ${formatCountdown(leftMs)}`
  // `renotify` is not among the types of every browser.
  const options = {
    body: alert.kind === 'test' ? 'This is how an eviction is announced.' : 'Its processes end, its disk stays.',
    tag: alert.devbox_id,
    renotify: true,
    requireInteraction: leftMs <= lastCallMs,
  }
  try {
    const notification = new Notification(title, options)
    notification.onclick = () => {
      window.focus()
      show()
      notification.close()
    }
  } catch {
    // Some browsers on phones take notifications from a service worker alone; the settings say so.
  }
}
