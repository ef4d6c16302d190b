import {
  CircleAlert,
  ClipboardPaste,
  Copy,
  EyeOff,
  Info,
  KeyRound,
  Link,
  type LucideIcon,
  RotateCcw,
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
import { asOneLine, cleanPaste, type PasteQuestion, type PasteReason, pasteQuestion } from '#lib/terminal/page/paste.ts'
import { paneOf } from '#lib/terminal/page/requests.ts'
import { maskSecrets } from '#lib/terminal/page/secrets-in-text.ts'
import { terminalSettings } from '#lib/terminal/page/settings.ts'
import { isMac, shortcutOf } from '#lib/terminal/page/shortcuts.ts'
import { type OpenedTerminal, writingRefusal } from '../pane/opened-terminal.ts'
import { usePromptLine } from '../pane/use-prompt-line.ts'
import { useServing, useTerminalRequests } from '../terminal-requests.tsx'
import { useListener } from './use-pane-events.ts'

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
        const hasSelection = terminal.hasSelection()
        const shortcut = shortcutOf(event, hasSelection)
        // The browser's paste event follows, which needs no permission.
        if (shortcut === 'paste') return true
        if (shortcut !== 'copy') return false
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
    toast.attention(`The browser does not let the page read the clipboard: press ${isMac ? '⌘V' : 'Ctrl V'}`)
  }
}

interface TerminalMenuProps {
  opened: OpenedTerminal
  onCopy: () => void
  onPaste: () => void
}

/** Right click: a menu, or copy and paste directly. With Shift, the browser's menu. */
const TerminalMenu = ({ opened, onCopy, onPaste }: TerminalMenuProps) => {
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
    // Focus returns to the terminal, because the menu item is removed.
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
        {secrets.length > 0 && <p className="text-sm text-muted">What looks like a secret is masked here only.</p>}
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
