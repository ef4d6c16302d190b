'use client'
import { useState, useSyncExternalStore } from 'react'
import { alertSettings } from '#components/alerts/alert-settings.ts'
import { applyPreference, setTheme, themeLabels, useTheme } from '#components/layout/theme.tsx'
import { ButtonLink } from '#components/ui/button.tsx'
import { useChoice } from '#components/ui/choice/browser-choice.ts'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { TextField } from '#components/ui/field.tsx'
import { formatExact } from '#components/ui/time-text.ts'
import { useClock } from '#components/ui/use-clock.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { isTimeZone, themes } from '#lib/browser/frame/preferences.ts'

/** What this browser remembers of how the console looks and makes itself heard. */
export const Appearance = () => {
  const theme = useTheme()
  const density = useChoice('density')
  const letters = useChoice('letters')
  return (
    <section aria-labelledby="browser" className="min-w-0 space-y-4">
      <h2 id="browser" className="text-lg font-medium">
        This browser
      </h2>
      <SelectField
        label="Theme"
        hint="Kept in this browser, for all accounts."
        value={theme}
        options={themes.map((value) => ({ value, label: themeLabels[value].label }))}
        onPick={setTheme}
      />
      <SelectField
        label="Density"
        hint="How high the rows of lists are."
        value={density}
        options={[
          { value: '', label: 'Comfortable' },
          { value: 'compact', label: 'Compact' },
        ]}
        onPick={(picked) => applyPreference('density', picked)}
      />
      <TimeZone />
      <SelectField
        label="Single-key shortcuts"
        hint="Keys without Ctrl, as g d, j, k, x, / and ?. Ctrl+K stays."
        value={letters}
        options={[
          { value: '', label: 'On' },
          { value: 'off', label: 'Off' },
        ]}
        onPick={(picked) => applyPreference('letters', picked)}
      />
      <Notifications />
    </section>
  )
}

/** Where times are told. What a page says is of a zone of its own (a filter in UTC) says so there. */
const TimeZone = () => {
  const zone = useChoice('timeZone')
  const [named, setNamed] = useState<string | null>(null)
  const kind = named !== null ? 'named' : zone === '' || zone === 'UTC' ? zone : 'named'
  const now = useClock((nowMs) => formatExact(nowMs), '')
  const own = useClock(() => Intl.DateTimeFormat().resolvedOptions().timeZone, '')
  const text = named ?? zone
  return (
    <>
      <SelectField
        label="Time zone"
        hint={now && `It is ${now}.`}
        value={kind}
        options={[
          { value: '', label: own ? `${'Of this browser'}: ${own}` : 'Of this browser' },
          { value: 'UTC', label: 'UTC' },
          { value: 'named', label: 'Another' },
        ]}
        onPick={(value) => {
          setNamed(value === 'named' ? '' : null)
          if (value !== 'named') applyPreference('timeZone', value)
        }}
      />
      {kind === 'named' && (
        <>
          <TextField
            label="Name of the zone"
            hint="As Europe/Berlin."
            list="time-zones"
            error={text !== '' && !isTimeZone(text) ? 'This browser knows no zone of this name' : undefined}
            value={text}
            onText={(next) => {
              setNamed(next)
              if (isTimeZone(next)) applyPreference('timeZone', next)
            }}
          />
          <datalist id="time-zones">
            {Intl.supportedValuesOf('timeZone').map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
    </>
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
