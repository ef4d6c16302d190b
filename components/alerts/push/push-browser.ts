import { sendToConsole } from '#lib/browser/api/console-api.ts'
import { ApiError } from '#lib/client/api-error.ts'
import { pushIdOf } from '#lib/protocol/push.ts'
import { workerPath } from '../notifications.ts'

/** Why this browser can't get push notifications; null if it can. */
export const pushRefusal = (): { is: 'blocked' | 'unavailable'; why: string } | null => {
  const unavailable = (why: string) => ({ is: 'unavailable' as const, why })
  if (!globalThis.isSecureContext)
    return unavailable('Browsers allow push notifications only on https addresses and localhost.')
  if (!('serviceWorker' in navigator && 'PushManager' in globalThis && 'Notification' in globalThis))
    return unavailable(
      "This browser doesn't support push notifications. On an iPhone or iPad, add Devdeck to the home screen first.",
    )
  if (Notification.permission !== 'denied') return null
  return {
    is: 'blocked',
    why: "This site's notifications are blocked. Allow them in the browser's site settings, then turn them on here.",
  }
}

const current = async (): Promise<PushSubscription | null> => {
  const registration = await navigator.serviceWorker?.getRegistration(workerPath)
  return (await registration?.pushManager?.getSubscription()) ?? null
}

/** Id of this browser's subscription; null if it has none. */
export const ownPushId = async (): Promise<string | null> => {
  const subscription = await current().catch(() => null)
  return subscription && pushIdOf(subscription.endpoint)
}

/** Asks for permission, which browsers allow only after a click. Rejects with the reason if push doesn't work. */
export const turnOnPush = async (publicKey: string, showsNames: boolean): Promise<void> => {
  if ((await Notification.requestPermission()) !== 'granted')
    throw new Error(pushRefusal()?.why ?? "The browser didn't grant permission to show notifications.")
  await navigator.serviceWorker.register(workerPath, { updateViaCache: 'none' })
  const { pushManager } = await navigator.serviceWorker.ready
  const before = await pushManager.getSubscription()
  // Made with the key of another console.
  if (before && keyText(before.options.applicationServerKey) !== publicKey) await before.unsubscribe()
  const subscription = await pushManager
    .subscribe({ userVisibleOnly: true, applicationServerKey: publicKey })
    .catch((error: Error) => {
      throw new Error(`The browser couldn't reach its push service: ${error.message}`)
    })
  const { endpoint, keys } = subscription.toJSON()
  await sendToConsole('POST', '/api/alerts/push', { endpoint, keys, shows_names: showsNames })
}

/** Other accounts of this browser that use the same subscription get an error from the push service, and are removed. */
export const unsubscribePush = async (): Promise<void> => {
  await (await current())?.unsubscribe()
}

/** Binds the subscription to the session of this page. */
export const renewPush = async (): Promise<void> => {
  const id = await ownPushId()
  if (id === null) return
  await sendToConsole('POST', `/api/alerts/push/${id}/renew`).catch((error: unknown) => {
    // Another account's, or turned off on another page.
    if (!(error instanceof ApiError && error.status === 404)) throw error
  })
}

const keyText = (key: ArrayBuffer | null): string => {
  if (!key) return ''
  return btoa(String.fromCharCode(...new Uint8Array(key)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
}
