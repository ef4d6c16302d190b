import { alertSettings } from './alert-settings.ts'

// Shown through a service worker, which phones require.

export const workerPath = '/alert-worker.js'

export interface AlertNotification {
  title: string
  options: NotificationOptions
  /** Key of the alerts it is about; it is closed with the last of them. */
  group: string
  /** Opened when the notification is clicked, in a tab of `account`. */
  path: string
  account: string
}

export type NotificationState = { is: 'on' | 'off' } | { is: 'blocked' | 'unavailable'; why: string }

export const notificationState = (isEnabled: boolean): NotificationState => {
  if (!globalThis.isSecureContext)
    return { is: 'unavailable', why: 'Browsers allow notifications only on https addresses and localhost.' }
  if (!('Notification' in globalThis))
    return { is: 'unavailable', why: "This browser doesn't support web notifications." }
  if (Notification.permission === 'denied')
    return {
      is: 'blocked',
      why: "This site's notifications are blocked. Allow them in the browser's site settings, then turn them on here.",
    }
  return { is: isEnabled && Notification.permission === 'granted' ? 'on' : 'off' }
}

/** Requests permission, which browsers allow only after a click. Rejects with the reason if notifications don't work. */
export const turnOnNotifications = async (account: string): Promise<void> => {
  if ((await Notification.requestPermission()) !== 'granted') {
    const state = notificationState(true)
    throw new Error('why' in state ? state.why : "The browser didn't grant permission to show notifications.")
  }
  // Some browsers grant permission and then fail, so show one before saving the setting.
  await showNotification({
    title: 'Notifications are on',
    options: { body: 'Evictions will be announced like this.', tag: 'devdeck-test' },
    group: 'test',
    path: '/evictions',
    account,
  })
  alertSettings.change({ notifications: true })
}

export const showNotification = async ({ title, options, group, path, account }: AlertNotification): Promise<void> => {
  if (!('serviceWorker' in navigator)) throw new Error("Service workers aren't available at this address.")
  await navigator.serviceWorker.register(workerPath, { updateViaCache: 'none' })
  const registration = await navigator.serviceWorker.ready
  await registration.showNotification(title, { ...options, data: { group, path, account } })
}

/** Closes the notifications of these groups, whichever tab showed them. */
export const closeNotifications = async (groups: ReadonlySet<string>): Promise<void> => {
  const registration = await navigator.serviceWorker?.getRegistration(workerPath)
  for (const shown of (await registration?.getNotifications()) ?? []) if (groups.has(shown.data?.group)) shown.close()
}

export const handleNotificationClicks = (account: string, open: (path: string) => void, signal: AbortSignal): void =>
  navigator.serviceWorker?.addEventListener(
    'message',
    ({ data, ports }) => {
      if (data?.isOf === account) ports[0]?.postMessage(true)
      if (typeof data?.show === 'string') open(data.show)
    },
    { signal },
  )
