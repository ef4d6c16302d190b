/**
 * Shows the notifications of alerts, which some browsers allow to a service worker alone, receives those that the
 * console pushes, and leads from one to its alert. It caches nothing and handles no request of a page.
 */
self.addEventListener('install', () => self.skipWaiting())

self.addEventListener('push', (event) => event.waitUntil(announce(event.data.json())))

self.addEventListener('notificationclick', (event) => {
  const { path, account } = event.notification.data
  event.notification.close()
  event.waitUntil(show(path, account))
})

const answerMs = 1_000
/** A hidden tab may have shown the same alert already. */
const sameAlarmMs = 15_000

const announce = async ({ account, tag, title, body, path, is_over: isOver, is_urgent: isUrgent }) => {
  const [shown] = await self.registration.getNotifications({ tag })
  const tab = await tabOf(account, (each) => each.visibilityState === 'visible')
  // A visible tab announces its alerts itself.
  if (tab) {
    if (isOver) shown?.close()
    return
  }
  const isShown = shown !== undefined && Date.now() - shown.timestamp < sameAlarmMs
  await self.registration.showNotification(title, {
    body,
    tag,
    silent: isOver || isShown,
    renotify: !isOver && !isShown,
    requireInteraction: isUrgent,
    data: { group: tag, path, account },
  })
}

/** Focuses a tab of the account and sends it the path; opens one if there is none. */
const show = async (path, account) => {
  const tab = await tabOf(account, () => true)
  if (!tab) return self.clients.openWindow(path)
  // A browser may refuse to bring the tab to the front.
  await tab.focus().catch(() => undefined)
  tab.postMessage({ show: path })
}

const tabOf = async (account, isWanted) => {
  const tabs = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  return Promise.any(tabs.filter(isWanted).map((each) => ofAccount(each, account))).catch(() => undefined)
}

const ofAccount = (tab, account) =>
  new Promise((resolve, reject) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => resolve(tab)
    setTimeout(reject, answerMs)
    tab.postMessage({ isOf: account }, [port2])
  })
