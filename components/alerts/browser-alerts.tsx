'use client'
import { BellRing, Play } from 'lucide-react'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Check } from '#components/ui/choice/check.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { toast } from '#components/ui/toast.tsx'
import { alertSettings, playAlertSound } from './alert-settings.ts'
import { type NotificationState, notificationState, turnOnNotifications } from './notifications.ts'

export const BrowserAlerts = ({ account }: { account: string }) => {
  const settings = useSyncExternalStore(alertSettings.subscribe, alertSettings.read, alertSettings.onServer)
  return (
    <section aria-labelledby="browser" className="space-y-2">
      <h2 id="browser" className="text-lg font-medium">
        This browser
      </h2>
      <p className="text-muted">
        Each alert is announced in one tab, with reminders 10 and 2 minutes before the deadline. With no tab open, only
        a{' '}
        <a href="#webhook" className="text-accent underline">
          webhook
        </a>{' '}
        is notified.
      </p>
      <Facts>
        <Fact label="Notifications">
          <Notifications account={account} isEnabled={settings.notifications} />
        </Fact>
        <Fact label="Sound">
          <span className="inline-flex flex-wrap items-center gap-x-3 gap-y-1">
            <Check
              small
              label="Play a sound"
              checked={settings.sound}
              onCheck={(sound) => alertSettings.change({ sound })}
            />
            <Button
              size="sm"
              icon={Play}
              onClick={() => void playAlertSound().catch(toast.failed('Couldn’t play the sound'))}
            >
              Test sound
            </Button>
          </span>
        </Fact>
      </Facts>
    </section>
  )
}

const Notifications = ({ account, isEnabled }: { account: string; isEnabled: boolean }) => {
  const [failure, setFailure] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const state = useNotificationState(isEnabled)
  const turnOn = async () => {
    setFailure(null)
    setIsBusy(true)
    try {
      await turnOnNotifications(account)
    } catch (error) {
      setFailure(problemOf(error).message)
    }
    setIsBusy(false)
  }
  return (
    <>
      <span className="inline-flex flex-wrap items-center gap-2">
        {state.is === 'on' && (
          <>
            On{' '}
            <Button size="sm" onClick={() => alertSettings.change({ notifications: false })}>
              Turn off
            </Button>
          </>
        )}
        {state.is === 'unavailable' && <span className="text-muted">Not available. {state.why}</span>}
        {(state.is === 'off' || state.is === 'blocked') && (
          <Button size="sm" icon={BellRing} busy={isBusy} onClick={() => void turnOn()}>
            Turn on notifications
          </Button>
        )}
      </span>
      {(failure !== null || (isEnabled && state.is === 'blocked')) && (
        <p role="alert" className="mt-1 text-sm text-danger">
          Notifications aren’t working. {failure ?? ('why' in state && state.why)}
        </p>
      )}
    </>
  )
}

/** Starts as "off" because the server can't know what the browser allows. */
const useNotificationState = (isEnabled: boolean): NotificationState => {
  const [state, setState] = useState<NotificationState>({ is: 'off' })
  useEffect(() => {
    const leaving = new AbortController()
    const { signal } = leaving
    const update = () => setState(notificationState(isEnabled))
    update()
    // Permission can be revoked in the browser's site settings at any time.
    void navigator.permissions?.query({ name: 'notifications' }).then(
      (permission) => signal.aborted || permission.addEventListener('change', update, { signal }),
      () => undefined,
    )
    return () => leaving.abort()
  }, [isEnabled])
  return state
}
