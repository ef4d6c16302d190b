/** What every page does about notifications that are shown; showing them is loaded with the first alarm. */

export const workerPath = '/alert-worker.js'

/** Closes the notifications of these alarms, whichever tab showed them. */
export const closeNotifications = async (alarms: ReadonlySet<string>): Promise<void> => {
  const registration = await navigator.serviceWorker?.getRegistration(workerPath)
  for (const shown of (await registration?.getNotifications()) ?? []) if (alarms.has(shown.data?.alarm)) shown.close()
}

/** Opens what a notification of this account leads to, when it is clicked, until `signal` aborts. */
export const answerNotifications = (account: string, show: (path: string) => void, signal: AbortSignal): void =>
  navigator.serviceWorker?.addEventListener(
    'message',
    ({ data, ports }) => {
      if (data?.isOf === account) ports[0]?.postMessage(true)
      if (typeof data?.show === 'string') show(data.show)
    },
    { signal },
  )
