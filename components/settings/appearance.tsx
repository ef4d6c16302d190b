'use client'
import { useSyncExternalStore } from 'react'
import { setTheme, themeLooks, useTheme } from '#components/layout/theme.ts'
import { ButtonLink } from '#components/ui/button.tsx'
import { Field } from '#components/ui/field.tsx'
import { Select } from '#components/ui/select.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { alertSettings } from '#lib/console/alerts/alert-settings.ts'
import { type Theme, themeOf, themes } from '#lib/console/frame/preferences.ts'

const options = themes.map((value: Theme) => ({ value, label: themeLooks[value].label }))

/** What this browser remembers of how the console looks and makes itself heard. */
export const Appearance = () => {
  const theme = useTheme()
  return (
    <section aria-labelledby="browser" className="min-w-0 space-y-4">
      <h2 id="browser" className="text-lg font-medium">
        This browser
      </h2>
      <Field label="Theme" hint="Kept in this browser, for all accounts.">
        {(control) => (
          <Select
            {...control}
            value={theme}
            options={options}
            onChange={({ target }) => setTheme(themeOf(target.value))}
          />
        )}
      </Field>
      <Notifications />
    </section>
  )
}

/** Turned on where alerts are explained; here is only whether they reach anybody. */
const Notifications = () => {
  const settings = useSyncExternalStore(alertSettings.subscribe, alertSettings.read, alertSettings.onServer)
  const permission = useSyncExternalStore(noChange, readPermission, () => 'unknown' as const)
  return (
    <div className="space-y-1">
      <h3 className="font-medium">Notifications</h3>
      <p>
        {settings.notifications ? 'On. ' : 'Off. '}
        {permissionWords[permission]}
      </p>
      <ButtonLink size="sm" href={paths.evictions()} prefetch={false}>
        Set up and test alerts
      </ButtonLink>
    </div>
  )
}

const noChange = () => () => undefined

const readPermission = () => ('Notification' in globalThis ? Notification.permission : 'missing')

const permissionWords = {
  granted: 'The browser allows them for this address.',
  denied: 'The browser refuses them for this address: allow them beside the address first.',
  default: 'The browser has not been asked yet.',
  missing: 'This browser shows none to this address.',
  unknown: '',
} as const
