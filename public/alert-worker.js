/**
 * Shows the notifications of alerts, which some browsers allow to a service worker alone, and leads from one to its
 * alert. It keeps nothing, and answers no request of a page.
 */
self.addEventListener('install', () => self.skipWaiting())

self.addEventListener('notificationclick', (event) => {
  const { path, account } = event.notification.data
  event.notification.close()
  event.waitUntil(show(path, account))
})

const answerMs = 1_000

/** A tab of that account is shown and told what to open; where there is none, one is opened. */
const show = async (path, account) => {
  const tabs = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const tab = await Promise.any(tabs.map((each) => ofAccount(each, account))).catch(() => undefined)
  if (!tab) return self.clients.openWindow(path)
  // A browser may refuse to bring it to the front; what it shows is then right all the same.
  await tab.focus().catch(() => undefined)
  tab.postMessage({ show: path })
}

const ofAccount = (tab, account) =>
  new Promise((resolve, reject) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => resolve(tab)
    setTimeout(reject, answerMs)
    tab.postMessage({ isOf: account }, [port2])
  })
