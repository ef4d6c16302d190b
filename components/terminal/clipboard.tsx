'use client'
import { useEffect, useState } from 'react'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { toast } from '#components/ui/toast.tsx'
import { cleanPaste } from '#lib/console/terminal-session.ts'
import type { OpenedTerminal } from './opened-terminal.ts'

/** Ctrl+Shift+C copies what is selected; a paste is cleaned, and asked about when it has several lines. */
export const Clipboard = ({ opened }: { opened: OpenedTerminal }) => {
  const [pasted, setPasted] = useState<string>()

  useEffect(() => {
    const { terminal, element, paste, onKey } = opened
    // Before xterm sees it: what is pasted may hold line ends that run it, or the sequence that ends bracketed paste.
    const guard = (event: ClipboardEvent) => {
      event.preventDefault()
      event.stopPropagation()
      const text = cleanPaste(event.clipboardData?.getData('text/plain') ?? '')
      if (/[\r\n]/.test(text)) setPasted(text)
      else if (text !== '') paste(text)
    }
    element.addEventListener('paste', guard, true)
    const forget = onKey((event) => {
      const key = event.ctrlKey && event.shiftKey ? event.key.toLowerCase() : ''
      if (key === 'c' && terminal.hasSelection()) {
        event.preventDefault()
        if (event.type === 'keydown') void copy(terminal.getSelection())
        return true
      }
      // The browser's own paste follows.
      return key === 'v'
    })
    return () => {
      element.removeEventListener('paste', guard, true)
      forget()
    }
  }, [opened])

  const answer = (isWanted: boolean) => {
    if (isWanted && pasted !== undefined) opened.paste(pasted)
    setPasted(undefined)
    // After the dialog has given the focus back to where it was.
    requestAnimationFrame(opened.focus)
  }
  return (
    <ConfirmDialog
      open={pasted !== undefined}
      onOpenChange={(open) => !open && answer(false)}
      title="Paste several lines?"
      consequence={pasted !== undefined && <PastePreview text={pasted} />}
      confirmLabel="Paste into terminal"
      tone="primary"
      onConfirm={() => answer(true)}
    />
  )
}

const PastePreview = ({ text }: { text: string }) => (
  <div className="space-y-2">
    <p>{text.split(/\r\n|\r|\n/).length} lines go to the shell. A shell may run each line as soon as it arrives.</p>
    <pre className="max-h-48 overflow-auto rounded-md border border-line bg-surface-1 p-2 font-mono text-sm whitespace-pre-wrap break-all">
      {text.slice(0, 4000)}
      {text.length > 4000 && '…'}
    </pre>
  </div>
)

const copy = async (text: string) => {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    toast.danger('The browser did not allow copying')
  }
}
