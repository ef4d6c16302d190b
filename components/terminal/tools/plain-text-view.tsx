import { FileText } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { IconButton } from '#components/ui/icon-button.tsx'
import { type TerminalText, terminalText } from '#lib/terminal/page/lines.ts'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'

const PlainTextDialog = dynamic(async () => (await import('./plain-text-dialog.tsx')).PlainTextDialog)

export type ReadText = TerminalText & { atMs: number }

/** A static text snapshot of the terminal for screen readers, browser search and touch selection. */
export const PlainTextView = ({ opened }: { opened: OpenedTerminal }) => {
  const [read, setRead] = useState<ReadText>()
  const readNow = () => setRead({ ...terminalText(opened.terminal.buffer.active), atMs: Date.now() })
  return (
    <>
      <IconButton size="sm" icon={FileText} label="View as plain text" onClick={readNow} />
      {read && (
        <PlainTextDialog
          open
          onOpenChange={() => setRead(undefined)}
          read={read}
          fileName={`terminal-${opened.name}`}
          onReadAgain={readNow}
        />
      )}
    </>
  )
}
