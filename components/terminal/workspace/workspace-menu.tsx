import { useQuery } from '@tanstack/react-query'
import {
  AppWindow,
  ArrowLeft,
  ArrowRight,
  Columns2,
  Ellipsis,
  EthernetPort,
  Fullscreen,
  Layers,
  type LucideIcon,
  Minimize,
  Pencil,
  Plus,
  RotateCcw,
  Rows2,
  SquareTerminal,
} from 'lucide-react'
import { terminalQueries } from '#components/terminal/queries.ts'
import { DropdownMenu, type MenuItem } from '#components/ui/dropdown-menu.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { cutEnd, visiblePieces } from '#components/ui/text.ts'
import { terminalsPath } from '#lib/browser/address/terminals-path.ts'
import { formatCountOf } from '#lib/browser/format.ts'
import type { HeldTerminal } from '#lib/protocol/terminals.ts'
import { moveTab, terminalsOf } from '#lib/terminal/layout/moves.ts'
import type { FullWindow } from './use-full-window.ts'
import type { Workspace } from './use-workspace.ts'

export const WorkspaceMenu = ({
  workspace,
  fullWindow,
  onPorts,
}: {
  workspace: Workspace
  fullWindow: FullWindow
  onPorts: () => void
}) => {
  const fullScreen = {
    icon: fullWindow.isFullScreen ? Minimize : Fullscreen,
    label: fullWindow.isFullScreen ? 'Leave full screen' : 'Full screen',
  }
  const toggle = fullWindow.toggleFullScreen
  return (
    <div className="flex flex-1 shrink-0 items-center gap-0.5 pb-0.5">
      <IconButton
        icon={Plus}
        size="sm"
        label="New terminal"
        disabledReason={workspace.tooMany}
        onClick={workspace.open}
      />
      <span className="flex-1" />
      <HiddenShells workspace={workspace} />
      {!workspace.hasOwnWindow && <IconButton {...fullScreen} size="sm" onClick={toggle} className="max-sm:hidden" />}
      <DropdownMenu
        label="Terminal actions"
        items={[
          ...actions(workspace),
          { label: 'Ports', icon: EthernetPort, onSelect: onPorts },
          ownWindow(workspace),
          { ...fullScreen, onSelect: toggle },
        ]}
        trigger={<IconButton icon={Ellipsis} size="sm" label="Terminal actions" />}
      />
    </div>
  )
}

const HiddenShells = ({ workspace }: { workspace: Workspace }) => {
  const { devboxId, layout, tooMany, attach, panes, statusOf } = workspace
  // Queried after this page's terminals have opened; before, they would count as hidden.
  const isOpening = panes.some((name) => statusOf(name).phase === 'connecting')
  const { data: held = [] } = useQuery({ ...terminalQueries.held(devboxId), enabled: !isOpening })
  const shown = terminalsOf(layout)
  const hidden = held.filter(({ name }) => !shown.includes(name))
  if (hidden.length === 0) return null
  return (
    <DropdownMenu
      label="Running shells"
      items={[
        { heading: 'Running shells not shown on this page' },
        ...hidden.map((shell) => ({
          icon: SquareTerminal,
          label: shell.title ? `${shell.name}: ${plain(shell.title)}` : shell.name,
          hint: hintOf(shell),
          disabledReason: tooMany,
          onSelect: () => attach(shell.name),
        })),
      ]}
      trigger={
        <button
          type="button"
          className="flex h-6 items-center gap-1 rounded-md px-1.5 text-sm text-muted hover:bg-surface-2 hover:text-text"
        >
          <Layers aria-hidden className="size-3.5" />
          <span className="tabular">{hidden.length}</span>
          <span className="max-sm:sr-only">{hidden.length === 1 ? 'more shell' : 'more shells'}</span>
        </button>
      }
    />
  )
}

const hintOf = ({ viewers: { length }, ends_at_ms }: HeldTerminal) => {
  if (length > 0) return formatCountOf(length, 'viewer')
  return ends_at_ms !== null && `ends in ${Math.max(1, Math.round((ends_at_ms - Date.now()) / 60_000))} min`
}

const actions = (workspace: Workspace): MenuItem[] => {
  const { layout, tooMany, change, split } = workspace
  const { tabs, active } = layout
  const move = (label: string, icon: LucideIcon, step: -1 | 1, atEnd: string): MenuItem => ({
    label,
    icon,
    disabledReason: tabs[active + step] ? null : atEnd,
    onSelect: () => change((now) => moveTab(now, now.active, now.active + step), 'replace'),
  })
  const add = (label: string, icon: LucideIcon, hint: string, onSelect: () => void): MenuItem => ({
    label,
    icon,
    hint: `Ctrl Shift ${hint}`,
    disabledReason: tooMany,
    onSelect,
  })
  return [
    add('New terminal', Plus, 'Enter', workspace.open),
    add('Split right', Columns2, 'E', () => split('right')),
    add('Split down', Rows2, 'O', () => split('down')),
    { label: 'Reset terminal', icon: RotateCcw, onSelect: workspace.reset },
    'separator',
    { label: 'Rename tab', icon: Pencil, hint: 'F2', onSelect: () => workspace.setRenaming(active) },
    move('Move tab left', ArrowLeft, -1, 'This is the first tab'),
    move('Move tab right', ArrowRight, 1, 'This is the last tab'),
    'separator',
  ]
}

const ownWindow = ({ devboxId, layout, hasOwnWindow }: Workspace): MenuItem => {
  const href = terminalsPath(devboxId, layout, !hasOwnWindow)
  if (hasOwnWindow) return { label: 'Back to the console', icon: AppWindow, href }
  return {
    label: 'Open in new window',
    icon: AppWindow,
    onSelect: () => window.open(href, '_blank', 'noopener,popup,width=1100,height=750'),
  }
}

/** Plain text with invisible characters spelled out, as menu items require. */
const plain = (title: string): string =>
  visiblePieces(cutEnd(title, 60))
    .map(({ text }) => text)
    .join('')
