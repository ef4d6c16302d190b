/** What every page does about notifications that are shown; showing them is loaded with the first alarm. */

export const workerPath = '/alert-worker.js'

/** Takes back what was shown of an alarm, in whichever tab. */
export const closeNotification = async (alarm: string): Promise<void> => {
  const registration = await navigator.serviceWorker?.getRegistration(workerPath)
  for (const shown of (await registration?.getNotifications()) ?? []) if (shown.data?.alarm === alarm) shown.close()
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
