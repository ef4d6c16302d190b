import { alertSettings } from './alert-settings.ts'
import { workerPath } from './notification-clicks.ts'

/**
 * Notifications of this browser. They are shown through a service worker, as browsers on phones allow no other way, and
 * by the page itself where there is none.
 */

export interface AlertNotification {
  title: string
  options: NotificationOptions
  /** The alarm it tells of. */
  alarm: string
  /** The page of the alert, in a tab of that account. */
  path: string
  account: string
}

/** What a page has to say of notifications: whether they come, and if not, why. */
export type NotificationState = { is: 'on' | 'off' } | { is: 'refused' | 'impossible'; why: string }

export const notificationState = (isWanted: boolean): NotificationState => {
  if (!globalThis.isSecureContext)
    return { is: 'impossible', why: 'Browsers show notifications of https addresses and of localhost alone.' }
  if (!('Notification' in globalThis)) return { is: 'impossible', why: 'This browser has no notifications for pages.' }
  if (Notification.permission === 'denied')
    return {
      is: 'refused',
      why: 'The browser refuses notifications of this address: allow them beside the address, then turn them on here.',
    }
  return { is: isWanted && Notification.permission === 'granted' ? 'on' : 'off' }
}

/** Asks for leave, which a browser allows on a click only. Rejects with the reason where none can be shown. */
export const turnOnNotifications = async (account: string): Promise<void> => {
  if ((await Notification.requestPermission()) !== 'granted')
    throw new Error(whyOff(notificationState(true)) ?? 'The browser was not given leave to show notifications.')
  // Some browsers give leave and then cannot show one, so one is shown before the switch is on.
  await showNotification({
    title: 'Notifications of alerts are on',
    options: { body: 'An eviction is announced like this.', tag: 'devdeck-test' },
    alarm: 'test',
    path: '/evictions',
    account,
  })
  alertSettings.change({ notifications: true })
}

const whyOff = (state: NotificationState) => ('why' in state ? state.why : undefined)

/** Rejects where the browser shows none. */
export const showNotification = async (wanted: AlertNotification, onClick?: () => void): Promise<void> => {
  const { title, options, alarm, path, account } = wanted
  const all = { ...options, data: { alarm, path, account } }
  try {
    return await (await worker()).showNotification(title, all)
  } catch (refusal) {
    // A page's own notification throws where only a service worker may show one: the first reason is then the one to tell.
    try {
      const notification = new Notification(title, all)
      notification.onclick = () => {
        window.focus()
        onClick?.()
        notification.close()
      }
    } catch {
      throw refusal
    }
  }
}

const worker = async (): Promise<ServiceWorkerRegistration> => {
  if (!('serviceWorker' in navigator)) throw new Error('The browser has no service workers for this address.')
  await navigator.serviceWorker.register(workerPath, { updateViaCache: 'none' })
  return navigator.serviceWorker.ready
}
