import type { LucideIcon as Icon } from 'lucide-react'
import { ArrowDown, ArrowLeft, ArrowRight, ArrowUp, Keyboard, SendHorizontal } from 'lucide-react'
import { useEffect, useState } from 'react'
import { classes } from '#components/ui/classes.ts'
import { keyBytes, type Modifiers } from '#lib/terminal/page/keys.ts'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'

const keys: readonly { key: string; label: string; icon?: Icon }[] = [
  { key: 'Escape', label: 'Esc' },
  { key: 'Tab', label: 'Tab' },
  { key: 'ArrowLeft', label: 'Left', icon: ArrowLeft },
  { key: 'ArrowDown', label: 'Down', icon: ArrowDown },
  { key: 'ArrowUp', label: 'Up', icon: ArrowUp },
  { key: 'ArrowRight', label: 'Right', icon: ArrowRight },
  { key: 'c', label: 'Ctrl C' },
  { key: 'Home', label: 'Home' },
  { key: 'End', label: 'End' },
  { key: 'PageUp', label: 'Page up' },
  { key: 'PageDown', label: 'Page down' },
  { key: '|', label: '|' },
  { key: '~', label: '~' },
  { key: '/', label: '/' },
  { key: '-', label: '-' },
]

/** On touch screens: keys a phone keyboard lacks, and an input line with autocorrection that is sent as a whole. */
export const KeyBar = ({ opened }: { opened: OpenedTerminal }) => {
  const [held, setHeld] = useState<Modifiers>({ ctrl: false, alt: false })
  const [isLine, setIsLine] = useState(false)

  // A letter on the phone's keyboard while Ctrl is active here.
  useEffect(() => {
    if (!held.ctrl && !held.alt) return
    return opened.onInput((text) => {
      if ([...text].length !== 1) return text
      setHeld({ ctrl: false, alt: false })
      return keyBytes(text, held, false)
    })
  }, [opened, held])

  const press = (key: string) => {
    const modifiers = key === 'c' ? { ctrl: true, alt: false } : held
    opened.terminal.input(keyBytes(key, modifiers, opened.terminal.modes.applicationCursorKeysMode))
    if (held.ctrl || held.alt) setHeld({ ctrl: false, alt: false })
  }
  const hold = (modifier: keyof Modifiers) => setHeld((before) => ({ ...before, [modifier]: !before[modifier] }))
  return (
    <div className="border-t border-line bg-surface-1">
      {isLine && <InputLine opened={opened} />}
      <div
        role="toolbar"
        aria-label="Keys"
        className="flex h-11 gap-1 overflow-x-auto overscroll-contain px-2 py-1 [scrollbar-width:none]"
      >
        <BarKey label="Ctrl" isPressed={held.ctrl} onPress={() => hold('ctrl')} />
        <BarKey label="Alt" isPressed={held.alt} onPress={() => hold('alt')} />
        {keys.map(({ key, label, icon }) => (
          <BarKey key={key} label={label} icon={icon} onPress={() => press(key)} />
        ))}
        <BarKey
          label={isLine ? 'Hide input line' : 'Show input line'}
          icon={Keyboard}
          isPressed={isLine}
          onPress={() => setIsLine(!isLine)}
        />
      </div>
    </div>
  )
}

interface BarKeyProps {
  label: string
  icon?: Icon | undefined
  isPressed?: boolean
  onPress: () => void
}

/** Never takes focus, which would close the phone's keyboard. */
const BarKey = ({ label, icon: Icon, isPressed, onPress }: BarKeyProps) => (
  <button
    type="button"
    aria-label={Icon ? label : undefined}
    aria-pressed={isPressed}
    onMouseDown={(event) => event.preventDefault()}
    onPointerDown={(event) => event.preventDefault()}
    onClick={onPress}
    className={keyClasses(isPressed)}
  >
    {Icon ? <Icon aria-hidden className="size-4" /> : label}
  </button>
)

const keyClasses = (isPressed: boolean | undefined) =>
  classes(
    'flex h-9 min-w-10 shrink-0 touch-manipulation items-center justify-center rounded-md border px-2 font-mono text-sm select-none',
    isPressed ? 'border-accent bg-accent-soft text-accent' : 'border-line bg-surface-0 active:bg-surface-3',
  )

const InputLine = ({ opened }: { opened: OpenedTerminal }) => {
  const [text, setText] = useState('')
  const send = (end: string) => {
    opened.terminal.input(text + end)
    setText('')
  }
  return (
    <form
      className="flex gap-1 px-2 pt-1"
      onSubmit={(event) => {
        event.preventDefault()
        send('\r')
      }}
    >
      <input
        // biome-ignore lint/a11y/noAutofocus: it was just asked for
        autoFocus
        aria-label="Input line"
        value={text}
        onChange={({ target }) => setText(target.value)}
        autoCapitalize="off"
        enterKeyHint="send"
        className="h-9 min-w-0 flex-1 rounded-md border border-line bg-surface-0 px-2 font-mono"
      />
      <button type="button" onClick={() => send('')} className={keyClasses(false)}>
        Type
      </button>
      <button type="submit" aria-label="Send with Enter" className={keyClasses(false)}>
        <SendHorizontal aria-hidden className="size-4" />
      </button>
    </form>
  )
}
