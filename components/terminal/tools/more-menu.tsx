import { Columns2, Ellipsis, FileText, Power, Rows2 } from 'lucide-react'
import { useState } from 'react'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { DropdownMenu, type MenuItem } from '#components/ui/dropdown-menu.tsx'
import type { SplitDirection } from '#lib/terminal/layout/layout.ts'
import { type OpenedTerminal, useTerminalState, writingRefusal } from '../pane/opened-terminal.ts'
import { useCommands } from '../pane/pane-commands.ts'
import { useTerminalRequests } from '../terminal-requests.tsx'
import { BarButton } from './bar-button.tsx'
import { PlainTextDialog } from './plain-text-dialog.tsx'
import { commandItems, copyItems, keysOf, screenItems } from './terminal-items.tsx'
import { latencyText } from './terminal-latency.tsx'

interface MoreMenuProps {
  opened: OpenedTerminal
  isFollower: boolean
  split?: PaneSplitting | undefined
}

export interface PaneSplitting {
  refusal: string | null
  run: (way: SplitDirection) => void
}

/** Everything about one terminal that has no button of its own. */
export const MoreMenu = ({ opened, isFollower, split }: MoreMenuProps) => {
  const { session } = opened
  const state = useTerminalState(session)
  const requests = useTerminalRequests()
  const [shown, setShown] = useState<'plain text' | 'end shell'>()
  useCommands(opened)
  const close = () => setShown(undefined)
  const splitItem = (label: string, icon: typeof Columns2, way: SplitDirection): MenuItem[] =>
    split
      ? [
          {
            label,
            icon,
            hint: keysOf(`terminal.split-${way}`),
            needs: '/api/terminals' as const,
            disabledReason: split.refusal,
            onSelect: () => split.run(way),
          },
        ]
      : []
  const items: MenuItem[] = [
    ...commandItems(opened),
    'separator',
    ...copyItems(opened),
    { label: 'View as plain text', icon: FileText, onSelect: () => setShown('plain text') },
    ...screenItems(opened, requests),
    ...(split ? (['separator'] as const) : []),
    ...splitItem('Split right', Columns2, 'right'),
    ...splitItem('Split down', Rows2, 'down'),
    ...(isFollower
      ? []
      : ([
          'separator',
          {
            label: 'End shell',
            icon: Power,
            tone: 'danger',
            needs: '/api/terminals',
            disabledReason: writingRefusal(state),
            onSelect: () => setShown('end shell'),
          },
        ] as const)),
    ...(state.latency ? (['separator', { heading: `Latency ${latencyText(state.latency)}` }] as const) : []),
  ]
  return (
    <>
      <DropdownMenu label="More" items={items} trigger={<BarButton icon={Ellipsis} label="More" />} />
      {shown === 'plain text' && <PlainTextDialog opened={opened} onClose={close} />}
      <ConfirmDialog
        open={shown === 'end shell'}
        onOpenChange={close}
        title="End the shell?"
        consequence="Programs running in it will be terminated. The devbox keeps running, and you can start a new shell."
        needs="/api/terminals"
        confirmLabel="End shell"
        onConfirm={() => {
          close()
          session.request({ t: 'close' })
        }}
      />
    </>
  )
}
