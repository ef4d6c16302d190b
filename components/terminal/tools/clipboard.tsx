import { useEffect, useRef, useState } from 'react'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
import { toast } from '#components/ui/toast.tsx'
import { writeClipboard } from '#components/ui/use-copy.ts'
import { cleanPaste, type PasteQuestion, pasteQuestion } from '#lib/terminal/page/paste.ts'
import { terminalSettings } from '#lib/terminal/page/settings.ts'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'
import { isMac, shortcutOf } from '../pane/platform.ts'
import { usePromptLine } from '../pane/use-prompt-line.ts'
import { TerminalMenu } from './terminal-menu.tsx'
import { useListener } from './use-pane-events.ts'

const PasteDialog = loadOnUse(async () => (await import('./paste-dialog.tsx')).PasteDialog)

/** Copy and paste: by keys, by the mouse, by the right button; nothing is pasted that was not looked at first. */
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
    // A watcher's paste goes nowhere, and the session says so.
    if (asked && session.state.role === 'writer') setQuestion(asked)
    else if (text !== '') opened.paste(text)
  }
  useCopyKeys(opened)
  useCopyOnSelect(opened)
  usePromptLine(opened, offer)
  // Before xterm sees it: what is pasted may hold line ends that run it, or the sequence that ends bracketed paste.
  useListener(opened.element, 'paste', (event) => {
    if (!isOfTerminal(event)) return
    event.preventDefault()
    event.stopPropagation()
    offer(event.clipboardData?.getData('text/plain') ?? '')
  })

  const answer = (text: string | null) => {
    if (text !== null && text !== '') opened.paste(text)
    setQuestion(undefined)
    // In the next frame: the dialog first gives the focus back to where it was.
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

/** Lines that were only wrapped are one; blanks at their ends are padding of the screen. */
const selectedText = ({ terminal }: OpenedTerminal): string =>
  terminal
    .getSelection()
    .split(/\r?\n/)
    .map((line) => line.trimEnd())
    .join('\n')

const copySelection = async (opened: OpenedTerminal): Promise<void> => {
  if (!(await writeClipboard(selectedText(opened)))) toast.danger('The browser did not allow copying')
}

const useCopyKeys = (opened: OpenedTerminal) => {
  const { terminal, element, onKey } = opened
  useEffect(
    () =>
      onKey((event) => {
        const hasSelection = terminal.hasSelection()
        const shortcut = shortcutOf(event, hasSelection)
        // The browser's own paste follows, which needs no leave to read the clipboard.
        if (shortcut === 'paste') return true
        if (shortcut !== 'copy') return false
        // Without a selection, too: in some browsers Ctrl+Shift+C opens the developer tools.
        event.preventDefault()
        if (event.type !== 'keydown' || !hasSelection) return true
        void copySelection(opened)
        // Without a selection the next Ctrl+C interrupts.
        if (!event.shiftKey && !isMac && event.key !== 'Insert') terminal.clearSelection()
        return true
      }),
    [opened, terminal, onKey],
  )
  // The copy command of the browser and of its menu.
  useListener(element, 'copy', (event) => {
    if (!terminal.hasSelection() || !isOfTerminal(event)) return
    event.clipboardData?.setData('text/plain', selectedText(opened))
    event.preventDefault()
    event.stopPropagation()
  })
}

/** What is selected by the mouse, once it is let go; not what a search or a command of the page selects. */
const useCopyOnSelect = (opened: OpenedTerminal) => {
  const isSelecting = useRef(false)
  const stopping = useRef<ReturnType<typeof setTimeout>>(undefined)
  useListener(opened.element, 'pointerdown', (event) => {
    // On a busy page the second press of a double click comes before the stop after the first.
    clearTimeout(stopping.current)
    isSelecting.current = isOfTerminal(event)
    const stop = () => {
      isSelecting.current = false
    }
    // The terminal hears after this that the button was let go.
    const letGo = () => {
      stopping.current = setTimeout(stop)
    }
    document.addEventListener('pointerup', letGo, { once: true })
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

/** Fields that lie over the terminal have a clipboard of their own. */
const isOfTerminal = ({ target }: Event) => target instanceof Element && target.closest('.xterm') !== null

const pasteFromClipboard = async (offer: (text: string) => void) => {
  try {
    offer(await navigator.clipboard.readText())
  } catch {
    // The page is no secure context, or the person did not allow it.
    toast.attention(`The browser does not let the page read the clipboard: press ${isMac ? '⌘V' : 'Ctrl V'}`)
  }
}
