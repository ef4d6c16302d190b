'use client'
import { useState, useSyncExternalStore } from 'react'
import { alertSettings } from '#components/alerts/alert-settings.ts'
import { ownName, useOwnName, useSession } from '#components/alerts/people/own-name.ts'
import { applyPreference, setTheme, themeLabels, useTheme } from '#components/layout/theme.tsx'
import { ButtonLink } from '#components/ui/button.tsx'
import { useChoice } from '#components/ui/choice/browser-choice.ts'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { TextField } from '#components/ui/field.tsx'
import { formatExact } from '#components/ui/time-text.ts'
import { useClock } from '#components/ui/use-clock.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { isTimeZone, themes } from '#lib/browser/frame/preferences.ts'
import { maxNameLength } from '#lib/protocol/session.ts'

export const Preferences = () => {
  const theme = useTheme()
  const density = useChoice('density')
  const letters = useChoice('letters')
  return (
    <section aria-labelledby="browser" className="min-w-0 space-y-4">
      <h2 id="browser" className="text-lg font-medium">
        This browser
      </h2>
      <p className="text-muted">These settings apply to all accounts in this browser.</p>
      <SelectField
        label="Theme"
        value={theme}
        options={themes.map((value) => ({ value, label: themeLabels[value].label }))}
        onPick={setTheme}
      />
      <SelectField
        label="Density"
        hint="Height of list rows."
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
        hint="Shortcuts without Ctrl, such as g d, j, k, x, / and ?."
        value={letters}
        options={[
          { value: '', label: 'On' },
          { value: 'off', label: 'Off' },
        ]}
        onPick={(picked) => applyPreference('letters', picked)}
      />
      <OwnName />
      <Notifications />
    </section>
  )
}

const TimeZone = () => {
  const zone = useChoice('timeZone')
  /** Name being typed for another zone; null while none is. */
  const [draft, setDraft] = useState<string | null>(null)
  const kind = draft !== null ? 'other' : zone === '' || zone === 'UTC' ? zone : 'other'
  const now = useClock((nowMs) => formatExact(nowMs), '')
  const browserZone = useClock(() => Intl.DateTimeFormat().resolvedOptions().timeZone, '')
  const text = draft ?? zone
  return (
    <>
      <SelectField
        label="Time zone"
        hint={now && `Current time: ${now}`}
        value={kind}
        options={[
          { value: '', label: browserZone ? `Browser time zone (${browserZone})` : 'Browser time zone' },
          { value: 'UTC', label: 'UTC' },
          { value: 'other', label: 'Other' },
        ]}
        onPick={(value) => {
          setDraft(value === 'other' ? '' : null)
          if (value !== 'other') applyPreference('timeZone', value)
        }}
      />
      {kind === 'other' && (
        <>
          <TextField
            label="Time zone name"
            hint="For example, Europe/Berlin."
            list="time-zones"
            error={text !== '' && !isTimeZone(text) ? 'Unknown time zone' : undefined}
            value={text}
            onText={(next) => {
              setDraft(next)
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

const OwnName = () => {
  const isNamedBySignOn = useSession()?.person !== undefined
  const name = useOwnName() ?? ''
  const [draft, setDraft] = useState<string | null>(null)
  if (isNamedBySignOn) return null
  return (
    <TextField
      label="Your name"
      hint="Shown to others on alerts, in Activity and in shared terminals, marked as unverified."
      autoComplete="name"
      maxLength={maxNameLength}
      value={draft ?? name}
      onText={(text) => {
        setDraft(text)
        ownName.save(text)
      }}
      onBlur={() => setDraft(null)}
    />
  )
}

const Notifications = () => {
  const settings = useSyncExternalStore(alertSettings.subscribe, alertSettings.read, alertSettings.onServer)
  const permission = useSyncExternalStore(noSubscription, readPermission, () => 'unknown' as const)
  return (
    <div className="space-y-1">
      <h3 className="font-medium">Notifications</h3>
      <p>
        {settings.notifications ? 'On. ' : 'Off. '}
        {permissionTexts[permission]}
      </p>
      <ButtonLink size="sm" href={paths.evictions()} prefetch={false}>
        Set up and test alerts
      </ButtonLink>
    </div>
  )
}

const noSubscription = () => () => undefined

const readPermission = () => ('Notification' in globalThis ? Notification.permission : 'missing')

const permissionTexts = {
  granted: 'The browser allows them for this site.',
  denied: 'The browser blocks them for this site. Allow them in its site settings first.',
  default: 'The browser will ask for permission.',
  missing: 'This browser does not support them at this address.',
  unknown: '',
} as const
