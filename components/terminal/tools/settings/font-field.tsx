import { useMemo, useState } from 'react'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { TextField } from '#components/ui/field.tsx'
import { readTerminalSettings, type TerminalSettings, terminalSettings } from '#lib/terminal/page/settings.ts'

const wellKnown = [
  'Cascadia Code',
  'Cascadia Mono',
  'Consolas',
  'DejaVu Sans Mono',
  'Fira Code',
  'Hack',
  'IBM Plex Mono',
  'Inconsolata',
  'Iosevka',
  'JetBrains Mono',
  'Liberation Mono',
  'Menlo',
  'Monaco',
  'Noto Sans Mono',
  'SF Mono',
  'Source Code Pro',
  'Ubuntu Mono',
]
const another = '+'

/** Installed monospace fonts, or any other by name. */
export const FontField = ({ settings: { fontFamily } }: { settings: TerminalSettings }) => {
  const found = useMemo(() => wellKnown.filter(hasFont), [])
  const [own, setOwn] = useState(found.includes(fontFamily) ? '' : fontFamily)
  const [isOwn, setIsOwn] = useState(own !== '')
  const pick = (value: string) => {
    setIsOwn(value === another)
    terminalSettings.change({ fontFamily: value === another ? valid(own) : value })
  }
  const type = (name: string) => {
    setOwn(name)
    terminalSettings.change({ fontFamily: valid(name) })
  }
  return (
    <>
      <SelectField
        label="Font"
        value={isOwn ? another : fontFamily}
        options={[
          { value: '', label: 'Geist Mono (default)' },
          ...found.map((name) => ({ value: name, label: name })),
          { value: another, label: 'Another font' },
        ]}
        onPick={pick}
      />
      {isOwn && (
        <TextField label="Font name" error={problemOf(own)} hint="As shown by your system" value={own} onText={type} />
      )}
    </>
  )
}

const valid = (name: string): string => readTerminalSettings(JSON.stringify({ fontFamily: name.trim() })).fontFamily

const problemOf = (name: string): string | null => {
  if (name.trim() === '') return null
  if (valid(name) === '') return 'Use letters, digits, spaces, dots and hyphens'
  return hasFont(name.trim()) ? null : 'Font not installed'
}

/** Browsers don't list fonts; text in a missing font has the fallback's width. */
const hasFont = (name: string): boolean => {
  const context = document.createElement('canvas').getContext('2d')
  if (!context) return false
  const width = (family: string) => {
    context.font = `72px ${family}`
    return context.measureText('mmmmiiiWlLO0@#').width
  }
  return ['monospace', 'serif'].some((other) => width(`"${name}", ${other}`) !== width(other))
}
