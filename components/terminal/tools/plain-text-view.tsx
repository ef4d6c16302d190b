import { FileText } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { useCopy } from '#components/ui/use-copy.ts'
import { formatCountOf } from '#lib/browser/format.ts'
import { saveText } from '#lib/browser/lists/export.ts'
import { terminalText } from '#lib/terminal/page/lines.ts'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'

/** A static text snapshot of the terminal for screen readers, browser search and touch selection. */
export const PlainTextView = ({ opened }: { opened: OpenedTerminal }) => {
  const [read, setRead] = useState<{ text: string; atMs: number }>()
  const { result, copy } = useCopy('the text')
  const readNow = () => setRead({ text: terminalText(opened.terminal.buffer.active), atMs: Date.now() })
  return (
    <>
      <IconButton size="sm" icon={FileText} label="View as plain text" onClick={readNow} />
      {read && (
        <Dialog
          open
          onOpenChange={() => setRead(undefined)}
          title="Terminal as plain text"
          size="lg"
          footer={
            <>
              <Button onClick={() => saveText(`terminal-${opened.name}`, 'txt', read.text)}>Download</Button>
              <Button onClick={() => void copy(read.text)}>
                {result === 'copied' ? 'Copied' : result === 'refused' ? 'Copying was blocked' : 'Copy all'}
              </Button>
              <Button variant="primary" onClick={readNow}>
                Refresh
              </Button>
            </>
          }
        >
          <div className="space-y-2">
            <p role="status" className="tabular text-sm text-muted">
              {formatCountOf(read.text.split('\n').length, 'line')}, read <RelativeTime ms={read.atMs} />; the newest at
              the end
            </p>
            <TextArea text={read.text} />
          </div>
        </Dialog>
      )}
    </>
  )
}

const TextArea = ({ text }: { text: string }) => {
  const area = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (area.current) area.current.scrollTop = area.current.scrollHeight
  })
  return (
    <textarea
      ref={area}
      readOnly
      aria-label="Terminal text"
      value={text}
      rows={20}
      spellCheck={false}
      className="block w-full resize-y rounded-md border border-line bg-surface-1 p-2 font-mono text-sm whitespace-pre"
    />
  )
}
