import { useEffect, useRef, useState } from 'react'
import { toast } from '#components/ui/toast.tsx'
import { writeClipboard } from '#components/ui/use-copy.ts'
import { cleanPaste, type PasteQuestion, pasteQuestion } from '#lib/terminal/page/paste.ts'
import { terminalSettings } from '#lib/terminal/page/settings.ts'
import { isMac, shortcutOf } from '#lib/terminal/page/shortcuts.ts'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'
import { usePromptLine } from '../pane/use-prompt-line.ts'
import { PasteDialog } from './paste-dialog.tsx'
import { TerminalMenu } from './terminal-menu.tsx'
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
