import { Settings2 } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { IconButton } from '#components/ui/icon-button.tsx'
import { paneOf } from '#lib/terminal/page/requests.ts'
import type { OpenedTerminal } from '../../pane/opened-terminal.ts'
import { useServing } from '../../terminal-requests.tsx'

const SettingsDialog = dynamic(async () => (await import('./terminal-settings-dialog.tsx')).TerminalSettingsDialog)

export const SettingsButton = ({ opened }: { opened: OpenedTerminal }) => {
  const [isOpen, setIsOpen] = useState(false)
  const open = () => setIsOpen(true)
  useServing(paneOf(opened), 'settings', open)
  return (
    <>
      <IconButton size="sm" icon={Settings2} label="Terminal settings" onClick={open} />
      {isOpen && <SettingsDialog onClose={() => setIsOpen(false)} />}
    </>
  )
}
