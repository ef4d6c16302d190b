import { ClipboardPaste, Copy, Link, RotateCcw, Search, Settings2, TextSelect } from 'lucide-react'
import { useState } from 'react'
import { DropdownMenu, type MenuItem } from '#components/ui/dropdown-menu.tsx'
import { toast } from '#components/ui/toast.tsx'
import { paneOf } from '#lib/terminal/page/requests.ts'
import { terminalSettings } from '#lib/terminal/page/settings.ts'
import { isMac } from '#lib/terminal/page/shortcuts.ts'
import { type OpenedTerminal, writingRefusal } from '../pane/opened-terminal.ts'
import { useServing, useTerminalRequests } from '../terminal-requests.tsx'
import { useListener } from './use-pane-events.ts'

interface TerminalMenuProps {
  opened: OpenedTerminal
  onCopy: () => void
  onPaste: () => void
}

/** Right click: a menu, or copy and paste directly. With Shift, the browser's menu. */
export const TerminalMenu = ({ opened, onCopy, onPaste }: TerminalMenuProps) => {
  const [place, setPlace] = useState<{ x: number; y: number }>()
  const requests = useTerminalRequests()
  const { terminal, session } = opened
  useServing(paneOf(opened), 'reset', () => {
    const refusal = writingRefusal(session.state)
    if (refusal) toast.attention('The terminal was not reset', { description: `${refusal}.` })
    else session.request({ t: 'reset' })
    opened.focus()
  })
  useListener(opened.element, 'contextmenu', (event) => {
    const { rightClick } = terminalSettings.get()
    if (!(event.target instanceof Element) || !event.target.closest('.xterm')) return
    if (rightClick === 'browser' || event.shiftKey) return
    // xterm would move its text field under the pointer for the browser's menu.
    event.preventDefault()
    event.stopPropagation()
    // The program received the click.
    if (terminal.modes.mouseTrackingMode !== 'none' && !terminal.hasSelection()) return
    if (rightClick === 'menu') return setPlace({ x: event.clientX, y: event.clientY })
    if (!terminal.hasSelection()) return onPaste()
    onCopy()
    terminal.clearSelection()
  })

  if (!place) return null
  const ask = (kind: 'find' | 'settings' | 'links' | 'reset') => {
    // Focus returns to the terminal, because the menu item will be gone.
    opened.focus()
    requests.ask(paneOf(opened), kind)
  }
  const keys = (letter: string) => (isMac ? `⌘${letter}` : `Ctrl Shift ${letter}`)
  const items: MenuItem[] = [
    {
      label: 'Copy',
      icon: Copy,
      hint: keys('C'),
      disabledReason: terminal.hasSelection() ? null : 'Nothing is selected',
      onSelect: onCopy,
    },
    {
      label: 'Paste',
      icon: ClipboardPaste,
      hint: keys('V'),
      disabledReason: writingRefusal(session.state),
      onSelect: onPaste,
    },
    { label: 'Select all', icon: TextSelect, onSelect: () => terminal.selectAll() },
    'separator',
    { label: 'Find', icon: Search, hint: keys('F'), onSelect: () => ask('find') },
    { label: 'Links on screen', icon: Link, onSelect: () => ask('links') },
    {
      label: 'Reset terminal',
      icon: RotateCcw,
      disabledReason: writingRefusal(session.state),
      onSelect: () => ask('reset'),
    },
    { label: 'Terminal settings', icon: Settings2, onSelect: () => ask('settings') },
  ]
  return (
    <DropdownMenu
      open
      onOpenChange={(isOpen) => !isOpen && setPlace(undefined)}
      // The chosen action may have taken focus.
      onClosed={() => document.activeElement === document.body && opened.focus()}
      label="Terminal"
      align="start"
      items={items}
      trigger={
        <button
          type="button"
          tabIndex={-1}
          aria-label="Terminal menu"
          className="pointer-events-none fixed size-px opacity-0"
          style={{ left: place.x, top: place.y }}
        />
      }
    />
  )
}
