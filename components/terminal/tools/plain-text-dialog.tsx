import { useEffect, useRef } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { useCopy } from '#components/ui/use-copy.ts'
import { formatCountOf } from '#lib/browser/format.ts'
import { saveText } from '#lib/browser/lists/export.ts'
import type { ReadText } from './plain-text-view.tsx'

interface PlainTextDialogProps {
  open: boolean
  onOpenChange: (open: boolean) => void
  read: ReadText | undefined
  fileName: string
  onReadAgain: () => void
}

export const PlainTextDialog = ({ open, onOpenChange, read, fileName, onReadAgain }: PlainTextDialogProps) => {
  const { result, copy } = useCopy('the text')
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Terminal as plain text"
      size="lg"
      footer={
        <>
          <Button onClick={() => read && saveText(fileName, 'txt', read.text)}>Download</Button>
          <Button onClick={() => read && void copy(read.text)}>
            {result === 'copied' ? 'Copied' : result === 'refused' ? 'Copying was blocked' : 'Copy all'}
          </Button>
          <Button variant="primary" onClick={onReadAgain}>
            Refresh
          </Button>
        </>
      }
    >
      {read && (
        <div className="space-y-2">
          <p role="status" className="tabular text-sm text-muted">
            {formatCountOf(read.lines, 'line')}, read <RelativeTime ms={read.atMs} />; the newest at the end
          </p>
          <TextArea text={read.text} />
        </div>
      )}
    </Dialog>
  )
}

const TextArea = ({ text }: { text: string }) => {
  const area = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (!area.current) return
    area.current.setSelectionRange(text.length, text.length)
    area.current.scrollTop = area.current.scrollHeight
  }, [text])
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
