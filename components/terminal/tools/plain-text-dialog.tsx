import { useEffect, useRef, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { useCopy } from '#components/ui/use-copy.ts'
import { formatCountOf } from '#lib/browser/format.ts'
import { saveText } from '#lib/browser/lists/export.ts'
import { serviceNow } from '#lib/client/clock.ts'
import { terminalText } from '#lib/terminal/page/lines.ts'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'

/** A static text snapshot of the terminal for screen readers, browser search and touch selection. */
export const PlainTextDialog = ({ opened, onClose }: { opened: OpenedTerminal; onClose: () => void }) => {
  const readNow = () => ({ text: terminalText(opened.terminal.buffer.active), atMs: serviceNow() })
  const [read, setRead] = useState(readNow)
  const { result, copy } = useCopy('the text')
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Terminal as plain text"
      size="lg"
      footer={
        <>
          <Button onClick={() => saveText(`terminal-${opened.name}`, 'txt', read.text)}>Download</Button>
          <Button onClick={() => void copy(read.text)}>
            {result === 'copied' ? 'Copied' : result === 'refused' ? 'Copying was blocked' : 'Copy all'}
          </Button>
          <Button variant="primary" onClick={() => setRead(readNow())}>
            Refresh
          </Button>
        </>
      }
    >
      <div className="space-y-2">
        <p role="status" className="tabular text-sm text-muted">
          {formatCountOf(read.text.split('\n').length, 'line')}, read <RelativeTime ms={read.atMs} />; the newest at the
          end
        </p>
        <TextArea text={read.text} />
      </div>
    </Dialog>
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
