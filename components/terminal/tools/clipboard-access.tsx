import { ClipboardCopy, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { toast } from '#components/ui/toast.tsx'
import { writeClipboard } from '#components/ui/use-copy.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatBytes, formatCountOf } from '#lib/browser/format.ts'
import { clipboardRequest, maxClipboardBytes } from '#lib/terminal/page/clipboard-request.ts'
import { terminalSettings } from '#lib/terminal/page/settings.ts'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'

/** Ignores clicks this soon after the text changed. */
const settleMs = 600

type Asked = { text: string; isSettled: boolean } | { sizeBytes: number }

/** Lets programs write to the clipboard (OSC 52) with the user's permission. Reading is never allowed. */
export const ClipboardAccess = ({ opened }: { opened: OpenedTerminal }) => {
  const [asked, setAsked] = useState<Asked>()
  const isMuted = useRef(false)

  useEffect(() => {
    const { terminal, session } = opened
    const handler = terminal.parser.registerOscHandler(52, (data) => {
      const request = clipboardRequest(data)
      const policy = isMuted.current ? 'never' : terminalSettings.get().clipboardWrites
      if (!request || policy === 'never' || session.state.role !== 'writer') return true
      if (request.kind === 'too_large') setAsked({ sizeBytes: request.sizeBytes })
      else if (policy === 'always' && isInUse(opened)) void put(request.text)
      else setAsked((before) => ({ text: request.text, isSettled: before === undefined }))
      return true
    })
    return () => handler.dispose()
  }, [opened])
  useEffect(() => {
    if (!asked || 'sizeBytes' in asked || asked.isSettled) return
    const timer = setTimeout(() => setAsked({ ...asked, isSettled: true }), settleMs)
    return () => clearTimeout(timer)
  }, [asked])

  if (!asked) return null
  const close = () => {
    setAsked(undefined)
    opened.focus()
  }
  const copy = () => {
    if ('text' in asked) void put(asked.text)
    close()
  }
  const mute = () => {
    isMuted.current = true
    close()
  }
  const wait = 'text' in asked && !asked.isSettled ? 'The text has just changed' : null
  return (
    <section
      aria-label="Clipboard request"
      className="animate-appear absolute right-4 bottom-3 z-20 max-w-[min(32rem,calc(100%-2rem))] min-w-0 rounded-md bg-overlay p-3 pr-10 shadow-overlay"
    >
      <div className="flex gap-2.5">
        <ClipboardCopy aria-hidden className="mt-0.5 size-4 shrink-0 text-attention" />
        <div className="min-w-0 flex-1 space-y-2">
          <p role="status">{wordsOf(asked)}</p>
          {'text' in asked && (
            <>
              <p className="max-h-16 overflow-hidden rounded-sm bg-surface-1 px-1.5 py-1 text-sm">
                <VisibleText mono max={160}>
                  {asked.text}
                </VisibleText>
              </p>
              <div className="flex flex-wrap gap-1.5">
                <Button size="sm" variant="primary" disabledReason={wait} onClick={copy}>
                  Copy once
                </Button>
                <Button size="sm" onClick={mute}>
                  Never in this terminal
                </Button>
              </div>
            </>
          )}
        </div>
      </div>
      <IconButton size="sm" icon={X} label="Not now" onClick={close} className="absolute top-2 right-2" />
    </section>
  )
}

/** The user has just typed here, so the write is a response to a key. */
const isInUse = ({ terminal }: OpenedTerminal): boolean =>
  document.hasFocus() && document.activeElement === terminal.textarea && navigator.userActivation?.isActive === true

const put = async (text: string) => {
  const id = 'terminal-clipboard'
  if (await writeClipboard(text)) toast.info(`Copied ${lengthOf(text)} from the devbox`, { id })
  else toast.danger('The browser blocked copying', { id })
}

const lengthOf = (text: string) => formatCountOf(text.length, 'character')

const wordsOf = (asked: Asked): string =>
  'text' in asked
    ? `A program in this terminal wants to copy ${lengthOf(asked.text)} to your clipboard`
    : `A program in this terminal tried to copy ${formatBytes(asked.sizeBytes)} to your clipboard. The limit is ${formatBytes(maxClipboardBytes)}.`
