import {
  CircleAlert,
  ClipboardPaste,
  Copy,
  EyeOff,
  Info,
  KeyRound,
  type LucideIcon,
  Search,
  Settings2,
  TextSelect,
} from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { DropdownMenu, type MenuItem } from '#components/ui/dropdown-menu.tsx'
import { toast } from '#components/ui/toast.tsx'
import { writeClipboard } from '#components/ui/use-copy.ts'
import { VisibleLines } from '#components/ui/visible-text.tsx'
import { formatBytes, formatCount, formatCountOf } from '#lib/browser/format.ts'
import { shortcutText, terminalActionOf, useChosenKeys } from '#lib/browser/frame/shortcuts.ts'
import { asOneLine, cleanPaste, type PasteQuestion, type PasteReason, pasteQuestion } from '#lib/terminal/page/paste.ts'
import { paneOf } from '#lib/terminal/page/requests.ts'
import { maskSecrets } from '#lib/terminal/page/secrets-in-text.ts'
import { terminalSettings } from '#lib/terminal/page/settings.ts'
import { clipboardKey, isMac } from '#lib/terminal/page/shortcuts.ts'
import { type OpenedTerminal, writingRefusal } from '../pane/opened-terminal.ts'
import { useCommands } from '../pane/pane-commands.ts'
import { usePromptLine } from '../pane/use-prompt-line.ts'
import { useTerminalRequests } from '../terminal-requests.tsx'
import { copyItems, keysOf, screenItems } from './terminal-items.tsx'
import { useListener, usePaneKeys } from './use-pane-events.ts'

export const Clipboard = ({ opened }: { opened: OpenedTerminal }) => {
  const { terminal, session } = opened
  const [question, setQuestion] = useState<PasteQuestion>()

  const offer = (raw: string) => {
    const text = cleanPaste(raw)
    const asked = pasteQuestion(text, {
      policy: terminalSettings.get().pasteWarning,
      isBracketed: terminal.modes.bracketedPasteMode,
      isRecorded: session.state.recording !== null,
    })
    // The session reports that a watcher can't type.
    if (asked && session.state.role === 'writer') setQuestion(asked)
    else if (text !== '') opened.paste(text)
  }
  useCopyKeys(opened)
  useCopyOnSelect(opened)
  usePromptLine(opened, offer)
  // Runs before xterm: pasted text may contain line ends or the end of a bracketed paste.
  useListener(opened.element, 'paste', (event) => {
    if (!isOfTerminal(event)) return
    event.preventDefault()
    event.stopPropagation()
    offer(event.clipboardData?.getData('text/plain') ?? '')
  })

  const answer = (text: string | null) => {
    if (text !== null && text !== '') opened.paste(text)
    setQuestion(undefined)
    // In the next frame, after the dialog has restored focus.
    requestAnimationFrame(opened.focus)
  }
  return (
    <>
      <TerminalMenu
        opened={opened}
        onCopy={() => void copySelection(opened)}
        onPaste={() => void pasteFromClipboard(offer)}
      />
      {question && (
        <PasteDialog question={question} isBracketed={terminal.modes.bracketedPasteMode} onAnswer={answer} />
      )}
    </>
  )
}

/** Joins wrapped lines and removes trailing padding. */
const selectedText = ({ terminal }: OpenedTerminal): string =>
  terminal
    .getSelection()
    .split(/\r?\n/)
    .map((line) => line.trimEnd())
    .join('\n')

const copySelection = async (opened: OpenedTerminal): Promise<void> => {
  if (!(await writeClipboard(selectedText(opened)))) toast.danger('The browser blocked copying')
}

const useCopyKeys = (opened: OpenedTerminal) => {
  const { terminal, element, onKey } = opened
  useEffect(
    () =>
      onKey((event) => {
        if (event.isComposing) return false
        const hasSelection = terminal.hasSelection()
        const meaning =
          terminalActionOf(event) === 'terminal.copy' ? 'copy' : clipboardKey(event, { isMac, hasSelection })
        // The browser's paste event follows, which needs no permission.
        if (meaning === 'paste') return true
        if (meaning !== 'copy') return false
        // Also without a selection: in some browsers Ctrl+Shift+C opens the developer tools.
        event.preventDefault()
        if (event.type !== 'keydown' || !hasSelection) return true
        void copySelection(opened)
        // Clear the selection, so that the next Ctrl+C interrupts.
        if (!event.shiftKey && !isMac && event.key !== 'Insert') terminal.clearSelection()
        return true
      }),
    [opened, terminal, onKey],
  )
  useListener(element, 'copy', (event) => {
    if (!terminal.hasSelection() || !isOfTerminal(event)) return
    event.clipboardData?.setData('text/plain', selectedText(opened))
    event.preventDefault()
    event.stopPropagation()
  })
}

/** Copies mouse selections on release, not those made by search or commands. */
const useCopyOnSelect = (opened: OpenedTerminal) => {
  const isSelecting = useRef(false)
  const stopping = useRef<ReturnType<typeof setTimeout>>(undefined)
  useListener(opened.element, 'pointerdown', (event) => {
    // On a busy page the second press of a double click arrives before this timer.
    clearTimeout(stopping.current)
    isSelecting.current = isOfTerminal(event)
    const stop = () => {
      isSelecting.current = false
    }
    // The terminal handles the release after this.
    const onRelease = () => {
      stopping.current = setTimeout(stop)
    }
    document.addEventListener('pointerup', onRelease, { once: true })
  })
  useEffect(() => {
    const { terminal } = opened
    const changed = terminal.onSelectionChange(() => {
      const isWanted = isSelecting.current && terminal.hasSelection() && terminalSettings.get().copyOnSelect
      if (isWanted) void copySelection(opened)
    })
    return () => changed.dispose()
  }, [opened])
}

/** Text fields over the terminal have their own clipboard handling. */
const isOfTerminal = ({ target }: Event) => target instanceof Element && target.closest('.xterm') !== null

const pasteFromClipboard = async (offer: (text: string) => void) => {
  try {
    offer(await navigator.clipboard.readText())
  } catch {
    // Insecure context, or permission denied.
    toast.attention(`The browser doesn't let the page read the clipboard. Press ${isMac ? '⌘V' : 'Ctrl V'}`)
  }
}

interface TerminalMenuProps {
  opened: OpenedTerminal
  onCopy: () => void
  onPaste: () => void
}

/** Right click: a menu, or copy and paste directly. With Shift, the browser's menu. By keyboard, always the menu. */
const TerminalMenu = ({ opened, onCopy, onPaste }: TerminalMenuProps) => {
  const [place, setPlace] = useState<{ x: number; y: number }>()
  const requests = useTerminalRequests()
  const { terminal, session } = opened
  useCommands(opened)
  useChosenKeys()
  useListener(opened.element, 'contextmenu', (event) => {
    const { rightClick } = terminalSettings.get()
    if (!(event.target instanceof Element) || !event.target.closest('.xterm')) return
    // The menu key was handled when it was pressed.
    const isByKey = place !== undefined
    if (!isByKey && (rightClick === 'browser' || event.shiftKey)) return
    // xterm would move its text field under the pointer for the browser's menu.
    event.preventDefault()
    event.stopPropagation()
    if (isByKey) return
    // The program received the click.
    if (terminal.modes.mouseTrackingMode !== 'none' && !terminal.hasSelection()) return
    if (rightClick === 'menu') return setPlace({ x: event.clientX, y: event.clientY })
    if (!terminal.hasSelection()) return onPaste()
    onCopy()
    terminal.clearSelection()
  })
  usePaneKeys(opened, ({ key, ctrlKey, shiftKey, altKey, metaKey }) => {
    const isOurs = key === 'ContextMenu' || (key === 'F10' && shiftKey)
    return isOurs && !ctrlKey && !altKey && !metaKey ? () => setPlace(cursorPlace(opened)) : null
  })

  if (!place) return null
  const ask = (kind: 'find' | 'settings') => () => {
    // Focus returns to the terminal, because the menu item is removed.
    opened.focus()
    requests.ask(paneOf(opened), kind)
  }
  const items: MenuItem[] = [
    {
      label: 'Copy',
      icon: Copy,
      hint: keysOf('terminal.copy'),
      disabledReason: terminal.hasSelection() ? null : 'Nothing is selected',
      onSelect: onCopy,
    },
    {
      label: 'Paste',
      icon: ClipboardPaste,
      hint: shortcutText(isMac ? 'meta+v' : 'ctrl+shift+v'),
      needs: '/api/terminals',
      disabledReason: writingRefusal(session.state),
      onSelect: onPaste,
    },
    { label: 'Select all', icon: TextSelect, onSelect: () => terminal.selectAll() },
    ...copyItems(opened),
    'separator',
    { label: 'Find', icon: Search, hint: keysOf('terminal.find'), onSelect: ask('find') },
    ...screenItems(opened, requests),
    'separator',
    { label: 'Terminal settings', icon: Settings2, onSelect: ask('settings') },
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

/** xterm keeps its text field at the cursor. */
const cursorPlace = ({ terminal, element }: OpenedTerminal): { x: number; y: number } => {
  const { left, bottom } = (terminal.textarea ?? element).getBoundingClientRect()
  return { x: left, y: bottom }
}

interface PasteDialogProps {
  question: PasteQuestion
  isBracketed: boolean
  onAnswer: (text: string | null) => void
}

const previewLength = 4000

/** Confirms a risky paste. Ignores Enter at first. */
const PasteDialog = ({ question, isBracketed, onAnswer }: PasteDialogProps) => {
  const { text, reasons, lines, secrets } = question
  const start = text.slice(0, previewLength)
  const shown = maskSecrets(
    start,
    secrets.filter((secret) => secret.start < start.length),
  )
  return (
    <Dialog
      open
      onOpenChange={() => onAnswer(null)}
      title={titleOf(question)}
      footer={
        <>
          <Button onClick={() => onAnswer(null)}>Cancel</Button>
          {lines > 1 && <Button onClick={() => onAnswer(asOneLine(text))}>Paste as one line</Button>}
          <Button variant="primary" onClick={() => onAnswer(text)}>
            Paste
          </Button>
        </>
      }
    >
      <div className="space-y-3">
        <ul className="space-y-1.5">
          {reasons.map((reason) => {
            const { icon: Icon, color, words } = reasonTexts[reason]({ ...question, isBracketed })
            return (
              <li key={reason} className="flex gap-2 text-lg">
                <Icon aria-hidden className={`mt-1 size-4 shrink-0 ${color}`} />
                <span className="min-w-0">{words}</span>
              </li>
            )
          })}
        </ul>
        <section
          aria-label="Text to paste"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be reached by keyboard
          tabIndex={0}
          className="max-h-56 overflow-auto rounded-md border border-line bg-surface-1 p-2 font-mono text-sm whitespace-pre-wrap break-all"
        >
          <VisibleLines max={previewLength}>{shown}</VisibleLines>
        </section>
        {text.length > previewLength && (
          <p className="text-sm text-muted">
            The first {formatCount(previewLength)} of {formatCount(text.length)} characters.
          </p>
        )}
        {secrets.length > 0 && <p className="text-sm text-muted">Likely secrets are masked in this preview only.</p>}
      </div>
    </Dialog>
  )
}

const titleOf = ({ lines, reasons, text }: PasteQuestion): string => {
  if (reasons[0] === 'secret') return 'Paste a secret into a recording?'
  if (reasons.includes('lines') && lines > 1) return `Paste ${formatCount(lines)} lines?`
  if (reasons.includes('size')) return `Paste ${formatBytes(new Blob([text]).size)}?`
  return reasons.includes('hidden') ? 'Paste text with hidden characters?' : 'Paste and run?'
}

interface ReasonText {
  icon: LucideIcon
  color: string
  words: ReactNode
}

const reasonTexts: Record<PasteReason, (about: PasteQuestion & { isBracketed: boolean }) => ReasonText> = {
  secret: ({ secrets }) => ({
    icon: KeyRound,
    color: 'text-danger',
    words: `It contains what looks like ${[...new Set(secrets.map(({ kind }) => kind))].slice(0, 3).join(', ')}. This terminal is being recorded, and anyone who plays the recording can read it.`,
  }),
  lines: ({ lines, isBracketed }) =>
    isBracketed
      ? {
          icon: Info,
          color: 'text-muted',
          words: "The shell won't run anything until you press Enter.",
        }
      : {
          icon: CircleAlert,
          color: 'text-attention',
          words: `The program in the terminal can't recognize a paste, so ${lines > 1 ? 'each line runs immediately.' : 'the line runs immediately.'}`,
        },
  size: ({ text, lines }) => ({
    icon: CircleAlert,
    color: 'text-attention',
    words: `${formatBytes(new Blob([text]).size)} in ${formatCountOf(lines, 'line')}: the shell may be busy for a while.`,
  }),
  hidden: () => ({
    icon: EyeOff,
    color: 'text-danger',
    words: 'It contains hidden characters that disguise the text. They are highlighted below.',
  }),
}
