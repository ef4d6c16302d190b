import { RotateCcw, Settings2 } from 'lucide-react'
import { type ReactNode, useEffect, useId, useRef, useState, useSyncExternalStore } from 'react'
import { Button } from '#components/ui/button.tsx'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { TextField } from '#components/ui/field.tsx'
import { formatCount } from '#lib/browser/format.ts'
import { terminalActionOf } from '#lib/browser/frame/shortcuts.ts'
import { paneOf } from '#lib/terminal/page/requests.ts'
import {
  defaultTerminalSettings,
  numberProblem,
  readTerminalSettings,
  type TerminalSettings,
  terminalLimits,
  terminalSettings,
} from '#lib/terminal/page/settings.ts'
import { isMac, linkKey } from '#lib/terminal/page/shortcuts.ts'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'
import { useServing } from '../terminal-requests.tsx'
import { BarButton } from './bar-button.tsx'
import { keysOf } from './terminal-items.tsx'
import { useListener, usePaneKeys } from './use-pane-events.ts'

const useTerminalSettings = () =>
  useSyncExternalStore(terminalSettings.subscribe, terminalSettings.get, () => defaultTerminalSettings)

/** Changes the font size by keyboard while a terminal has focus, and by pinching. */
export const useFontSize = (opened: OpenedTerminal): void => {
  usePaneKeys(opened, (event) => {
    const action = terminalActionOf(event)
    const step = action === 'terminal.larger' ? 1 : action === 'terminal.smaller' ? -1 : null
    if (step === null && action !== 'terminal.default-size') return null
    return () =>
      changeFontSize(step === null ? defaultTerminalSettings.fontSize : terminalSettings.get().fontSize + step)
  })
  const pinch = useRef<{ apart: number; fontSize: number }>(undefined)
  const begin = ({ touches }: TouchEvent) => {
    pinch.current =
      touches.length === 2 ? { apart: distance(touches), fontSize: terminalSettings.get().fontSize } : undefined
  }
  useListener(opened.element, 'touchstart', begin)
  useListener(opened.element, 'touchend', begin)
  useListener(opened.element, 'touchmove', (event) => {
    if (!pinch.current || event.touches.length !== 2) return
    // Prevents page zoom.
    event.preventDefault()
    changeFontSize(Math.round((pinch.current.fontSize * distance(event.touches)) / pinch.current.apart))
  })
}

const changeFontSize = (size: number) => {
  const { min, max } = terminalLimits.fontSize
  const fontSize = Math.min(max, Math.max(min, size))
  if (fontSize !== terminalSettings.get().fontSize) terminalSettings.change({ fontSize })
}

const distance = (touches: TouchList): number => {
  const [a, b] = [touches[0], touches[1]]
  return a && b ? Math.max(1, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY)) : 1
}

export const SettingsButton = ({ opened }: { opened: OpenedTerminal }) => {
  const [isOpen, setIsOpen] = useState(false)
  const open = () => setIsOpen(true)
  useServing(paneOf(opened), 'settings', open)
  return (
    <>
      <BarButton icon={Settings2} label="Settings" name="Terminal settings" onClick={open} />
      {isOpen && <SettingsDialog onClose={() => setIsOpen(false)} />}
    </>
  )
}

const SettingsDialog = ({ onClose }: { onClose: () => void }) => {
  const settings = useTerminalSettings()
  // Remounts the fields on reset, because one may contain an invalid number.
  const [resets, setResets] = useState(0)
  const isDefault = JSON.stringify(settings) === JSON.stringify(defaultTerminalSettings)
  const reset = () => {
    terminalSettings.reset()
    setResets(resets + 1)
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="lg"
      title="Terminal settings"
      description="Applies to all terminals in this browser."
      footer={
        <>
          <Button icon={RotateCcw} onClick={reset} disabledReason={isDefault ? 'Already at the defaults' : null}>
            Reset to defaults
          </Button>
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <div key={resets} className="space-y-6">
        <TextSettings settings={settings} />
        <ScreenSettings />
        <MouseSettings settings={settings} />
      </div>
    </Dialog>
  )
}

const TextSettings = ({ settings }: { settings: TerminalSettings }) => (
  <Section title="Text">
    <FontField settings={settings} />
    <NumberField
      name="fontSize"
      label="Font size"
      hint={['Pixels', keysOf('terminal.larger'), keysOf('terminal.smaller')].filter(Boolean).join(' · ')}
    />
    <NumberField name="lineHeight" label="Line height" hint="1 = no extra spacing" />
    <ChoiceField name="theme" label="Theme" options={{ app: 'Same as console', dark: 'Dark', light: 'Light' }} />
    <ChoiceField
      name="minimumContrast"
      label="Minimum contrast"
      options={{ 1: 'Off', 3: 'At least 3:1', 4.5: 'At least 4.5:1', 7: 'At least 7:1' }}
    />
  </Section>
)

const ScreenSettings = () => (
  <Section title="Screen">
    <ChoiceField name="cursorStyle" label="Cursor" options={{ block: 'Block', bar: 'Bar', underline: 'Underline' }} />
    <NumberField
      name="scrollback"
      label="Scrollback"
      hint={`Lines, up to ${formatCount(terminalLimits.scrollback.max)}`}
      whole
    />
    <CheckField name="ligatures" label="Ligatures" hint="Combined arrows and operators, if the font has them" />
    <ChoiceField name="bell" label="Bell" options={{ visual: 'Flash', none: 'Nothing' }} />
    <ChoiceField name="renderer" label="Drawing" options={{ auto: 'Automatic', webgl: 'WebGL', dom: 'DOM' }} />
    <CheckField name="cursorBlink" label="Blinking cursor" hint="Off if your system prefers reduced motion" />
    <CheckField name="screenReader" label="Screen reader support" hint="Exposes the screen line by line" />
  </Section>
)

const MouseSettings = ({ settings }: { settings: TerminalSettings }) => (
  <Section title="Mouse and clipboard">
    <ChoiceField
      name="rightClick"
      label="Right click"
      options={{ menu: 'Menu', paste: 'Copy or paste', browser: 'Browser menu' }}
    />
    <ChoiceField name="linkClick" label="Open links" options={{ modifier: `${linkKey}+click`, plain: 'Click' }} />
    <ChoiceField
      name="pasteWarning"
      label="Confirm multi-line paste"
      options={{
        always: 'Always',
        unbracketed: 'If lines would run immediately',
        never: 'Never',
      }}
    />
    <ChoiceField
      name="clipboardWrites"
      label="Clipboard access for programs"
      hint="Write only"
      options={{ ask: 'Ask', always: 'While you use the terminal', never: 'Never' }}
    />
    <TextField
      label="Word separators"
      hint="Where a double-click selection ends"
      mono
      maxLength={80}
      value={settings.wordSeparators}
      onText={(wordSeparators) => terminalSettings.change({ wordSeparators })}
    />
    <CheckField name="copyOnSelect" label="Copy on select" />
    {isMac && <CheckField name="optionIsMeta" label="Use Option as Meta" />}
  </Section>
)

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <fieldset className="grid gap-x-5 gap-y-4 sm:grid-cols-2">
    <legend className="mb-3 w-full border-b border-line pb-1 text-lg font-semibold">{title}</legend>
    {children}
  </fieldset>
)

type NameOf<T> = {
  [Name in keyof TerminalSettings]: TerminalSettings[Name] extends T ? Name : never
}[keyof TerminalSettings]

interface FieldProps<Name> {
  name: Name
  label: string
  hint?: string
}

interface NumberFieldProps extends FieldProps<keyof typeof terminalLimits> {
  whole?: boolean
}

const NumberField = ({ name, label, hint, whole }: NumberFieldProps) => {
  const value = useTerminalSettings()[name]
  const [typed, setTyped] = useState(String(value))
  const problem = numberProblem(typed, terminalLimits[name], whole)
  // Other windows and shortcuts can change the setting.
  useEffect(() => setTyped((before) => (numberOf(before) === value ? before : String(value))), [value])
  const type = (text: string) => {
    setTyped(text)
    if (!numberProblem(text, terminalLimits[name], whole)) terminalSettings.change({ [name]: numberOf(text) })
  }
  return (
    <TextField
      label={label}
      hint={hint}
      error={problem}
      inputMode="decimal"
      value={typed}
      onText={type}
      className="tabular"
    />
  )
}

const numberOf = (text: string) => Number(text.trim().replace(',', '.'))

interface ChoiceFieldProps<Name extends keyof TerminalSettings> extends FieldProps<Name> {
  options: { [Value in TerminalSettings[Name] & (string | number)]: string }
}

const ChoiceField = <Name extends NameOf<string | number>>({ name, label, hint, options }: ChoiceFieldProps<Name>) => {
  const value = useTerminalSettings()[name]
  const pick = (text: string) =>
    terminalSettings.change({ [name]: typeof value === 'number' ? Number(text) : text } as Partial<TerminalSettings>)
  return (
    <SelectField
      label={label}
      hint={hint}
      value={String(value)}
      options={Object.entries<string>(options)
        .map(([each, words]) => ({ value: each, label: words }))
        .sort((a, b) => (typeof value === 'number' ? Number(a.value) - Number(b.value) : 0))}
      onPick={pick}
    />
  )
}

const CheckField = ({ name, label, hint }: FieldProps<NameOf<boolean>>) => {
  const value = useTerminalSettings()[name]
  const hintId = useId()
  return (
    <div className="flex flex-col">
      <label className="flex min-h-6 cursor-pointer items-center gap-2 font-medium">
        <input
          type="checkbox"
          checked={value}
          aria-describedby={hint ? hintId : undefined}
          onChange={({ target }) => terminalSettings.change({ [name]: target.checked })}
          className="size-4 shrink-0 accent-(--accent-solid)"
        />
        {label}
      </label>
      {hint && (
        <p id={hintId} className="pl-6 text-sm text-muted">
          {hint}
        </p>
      )}
    </div>
  )
}

const FontField = ({ settings: { fontFamily } }: { settings: TerminalSettings }) => {
  const [typed, setTyped] = useState(fontFamily)
  const type = (name: string) => {
    setTyped(name)
    terminalSettings.change({ fontFamily: valid(name) })
  }
  return (
    <TextField
      label="Font"
      hint="Name of an installed font; empty for Geist Mono"
      placeholder="Geist Mono"
      error={typed.trim() !== '' && valid(typed) === '' && 'Use letters, digits, spaces, dots and hyphens'}
      value={typed}
      onText={type}
    />
  )
}

const valid = (name: string): string =>
  readTerminalSettings(() => JSON.stringify({ fontFamily: name.trim() })).fontFamily
