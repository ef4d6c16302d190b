'use client'
import { useCallback, useEffect, useRef, useState } from 'react'
import { toast } from '#components/ui/toast.tsx'
import { writeClipboard } from '#components/ui/use-copy.ts'
import { cleanPaste, type PasteQuestion, pasteQuestion } from '#lib/terminal/page/paste.ts'
import { terminalSettings } from '#lib/terminal/page/settings.ts'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'
import { useOfferedPaste } from '../pane/pane-commands.ts'
import { isMac, shortcutOf } from '../pane/platform.ts'
import { PasteDialog } from './paste-dialog.tsx'
import { TerminalMenu } from './terminal-menu.tsx'

/** Copy and paste: by keys, by the mouse, by the right button; nothing is pasted that was not looked at first. */
export const Clipboard = ({ opened }: { opened: OpenedTerminal }) => {
  const [question, setQuestion] = useState<PasteQuestion>()

  const offer = useCallback(
    (raw: string) => {
      const { terminal, session, paste } = opened
      const text = cleanPaste(raw)
      const asked = pasteQuestion(text, {
        policy: terminalSettings.get().pasteWarning,
        isBracketed: terminal.modes.bracketedPasteMode,
        isRecorded: session.state.recording !== null,
      })
      // A watcher's paste goes nowhere, and the session says so.
      if (asked && session.state.role === 'writer') setQuestion(asked)
      else if (text !== '') paste(text)
    },
    [opened],
  )
  useCopyKeys(opened)
  useCopyOnSelect(opened)
  usePasteEvents(opened, offer)
  useOfferedPaste(opened, offer)

  const answer = (text: string | null) => {
    if (text !== null && text !== '') opened.paste(text)
    setQuestion(undefined)
    // After the dialog has given the focus back to where it was.
    requestAnimationFrame(opened.focus)
  }
  return (
    <>
      <TerminalMenu opened={opened} onPaste={() => void pasteFromClipboard(offer)} />
      {question && (
        <PasteDialog question={question} isBracketed={opened.terminal.modes.bracketedPasteMode} onAnswer={answer} />
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

export const copySelection = async (opened: OpenedTerminal): Promise<void> => {
  if (!(await writeClipboard(selectedText(opened)))) toast.danger('The browser did not allow copying')
}

const useCopyKeys = (opened: OpenedTerminal) =>
  useEffect(() => {
    const { terminal, element, onKey } = opened
    const forget = onKey((event) => {
      const hasSelection = terminal.hasSelection()
      const shortcut = shortcutOf(event, hasSelection)
      // The browser's own paste follows, which needs no leave to read the clipboard.
      if (shortcut === 'paste') return true
      if (shortcut !== 'copy') return false
      // Without a selection, too: in some browsers Ctrl+Shift+C opens the developer tools.
      event.preventDefault()
      if (event.type !== 'keydown' || !hasSelection) return true
      void copySelection(opened)
      // So that the next Ctrl+C interrupts.
      if (!event.shiftKey && !isMac && event.key !== 'Insert') terminal.clearSelection()
      return true
    })
    // The browser's menu and its copy command.
    const copied = (event: ClipboardEvent) => {
      if (!terminal.hasSelection() || !isOfTerminal(event)) return
      event.clipboardData?.setData('text/plain', selectedText(opened))
      event.preventDefault()
      event.stopPropagation()
    }
    element.addEventListener('copy', copied, true)
    return () => {
      forget()
      element.removeEventListener('copy', copied, true)
    }
  }, [opened])

const useCopyOnSelect = (opened: OpenedTerminal) =>
  useEffect(() => {
    const { terminal, element } = opened
    let isSelecting = false
    const start = ({ target }: PointerEvent) => {
      isSelecting = target instanceof Element && target.closest('.xterm') !== null
    }
    // What is selected by the mouse, once it is let go; not what a search or a command of the page selects.
    const changed = terminal.onSelectionChange(() => {
      if (isSelecting && terminal.hasSelection() && terminalSettings.get().copyOnSelect) void copySelection(opened)
    })
    const end = () => {
      // The terminal hears of it after this.
      setTimeout(() => {
        isSelecting = false
      })
    }
    element.addEventListener('pointerdown', start, true)
    document.addEventListener('pointerup', end)
    return () => {
      changed.dispose()
      element.removeEventListener('pointerdown', start, true)
      document.removeEventListener('pointerup', end)
    }
  }, [opened])

const usePasteEvents = ({ element }: OpenedTerminal, offer: (text: string) => void) => {
  const latest = useRef(offer)
  latest.current = offer
  useEffect(() => {
    // Before xterm sees it: what is pasted may hold line ends that run it, or the sequence that ends bracketed paste.
    const guard = (event: ClipboardEvent) => {
      if (!isOfTerminal(event)) return
      event.preventDefault()
      event.stopPropagation()
      latest.current(event.clipboardData?.getData('text/plain') ?? '')
    }
    element.addEventListener('paste', guard, true)
    return () => element.removeEventListener('paste', guard, true)
  }, [element])
}

/** Fields that lie over the terminal have a clipboard of their own. */
const isOfTerminal = ({ target }: Event) => target instanceof Element && target.closest('.xterm') !== null

const pasteFromClipboard = async (offer: (text: string) => void) => {
  try {
    offer(await navigator.clipboard.readText())
  } catch {
    // Not a secure context, or not allowed.
    toast.attention(`The browser does not let the page read the clipboard: press ${isMac ? '⌘V' : 'Ctrl V'}`)
  }
}
