import { useMutation, useQuery } from '@tanstack/react-query'
import {
  AppWindow,
  ArrowLeft,
  ArrowRight,
  Columns2,
  Ellipsis,
  EthernetPort,
  Fullscreen,
  History,
  Layers,
  type LucideIcon,
  Minimize,
  Pencil,
  Plus,
  Power,
  Rows2,
  SquareArrowOutUpRight,
  SquareTerminal,
} from 'lucide-react'
import { useState } from 'react'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { DropdownMenu, type MenuItem } from '#components/ui/dropdown-menu.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { cutEnd, visiblePieces } from '#components/ui/text.ts'
import { paths } from '#lib/console/address/paths.ts'
import { terminalMutations, terminalQueries } from '#lib/console/queries/terminals.ts'
import { breakOut, moveTab, terminalsOf } from '#lib/terminal/layout/moves.ts'
import type { HeldTerminal } from '#lib/wire/terminals.ts'
import type { FullWindow } from './use-full-window.ts'
import type { Workspace } from './use-workspace.ts'

interface WorkspaceMenuProps {
  workspace: Workspace
  fullWindow: FullWindow
  onPorts: () => void
}

/** What can be done with the terminals of a devbox, at the end of their tabs. */
export const WorkspaceMenu = (props: WorkspaceMenuProps) => {
  const { devboxId, layout, hasOwnWindow, tooMany, open, attach } = props.workspace
  const { isFullScreen, toggleFullScreen } = props.fullWindow
  const { data: held = [] } = useQuery(terminalQueries.held(devboxId))
  const shown = terminalsOf(layout)
  const hidden = held.filter(({ name }) => !shown.includes(name))
  const end = useMutation(terminalMutations.end())
  const [ending, setEnding] = useState<readonly string[]>()
  const endUnwatched = () => {
    end.reset()
    setEnding(hidden.filter(({ viewers }) => viewers.length === 0).map(({ name }) => name))
  }
  return (
    <div className="flex flex-1 shrink-0 items-center gap-0.5 pb-0.5">
      <IconButton icon={Plus} size="sm" label="New terminal" disabledReason={tooMany} onClick={open} />
      <span className="flex-1" />
      {hidden.length > 0 && (
        <DropdownMenu
          label="Running shells"
          items={hiddenShells(hidden, tooMany, attach, endUnwatched)}
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
      )}
      {!hasOwnWindow && (
        <IconButton
          icon={isFullScreen ? Minimize : Fullscreen}
          size="sm"
          label={isFullScreen ? 'Leave full screen' : 'Full screen'}
          onClick={toggleFullScreen}
          className="max-sm:hidden"
        />
      )}
      <DropdownMenu
        label="Terminal actions"
        items={actions(props)}
        trigger={<IconButton icon={Ellipsis} size="sm" label="Terminal actions" />}
      />
      {ending && (
        <ConfirmDialog
          open
          onOpenChange={() => setEnding(undefined)}
          title={ending.length === 1 ? 'End this shell?' : `End ${ending.length} shells?`}
          consequence={`What runs in ${ending.join(', ')} ends too. The devbox keeps running.`}
          confirmLabel={ending.length === 1 ? 'End shell' : `End ${ending.length} shells`}
          busy={end.isPending}
          error={end.error}
          onConfirm={() => end.mutate({ devboxId, names: ending }, { onSuccess: () => setEnding(undefined) })}
        />
      )}
    </div>
  )
}

const hiddenShells = (
  hidden: readonly HeldTerminal[],
  tooMany: string | null,
  onAttach: (name: string) => void,
  onEnd: () => void,
): MenuItem[] => [
  { heading: 'Running, but not shown on this page' },
  ...hidden.map(({ name, title, viewers, ends_at_ms }) => ({
    icon: SquareTerminal,
    label: title ? `${name}: ${plain(title)}` : name,
    hint:
      viewers.length > 0
        ? viewers.length === 1
          ? '1 looks at it'
          : `${viewers.length} look at it`
        : ends_at_ms !== null && `ends in ${Math.max(1, Math.round((ends_at_ms - Date.now()) / 60_000))} min`,
    disabledReason: tooMany,
    onSelect: () => onAttach(name),
  })),
  'separator',
  {
    icon: Power,
    tone: 'danger',
    label: 'End those nobody looks at',
    disabledReason: hidden.every(({ viewers }) => viewers.length > 0) ? 'somebody looks at each of them' : null,
    onSelect: onEnd,
  },
]

const actions = ({ workspace, fullWindow, onPorts }: WorkspaceMenuProps): MenuItem[] => {
  const { devboxId, layout, tab, panes, hasOwnWindow, tooMany, change, split } = workspace
  const { tabs, active } = layout
  const ownWindowHref = paths.terminals(devboxId, layout, !hasOwnWindow)
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
  const breakOutPane: MenuItem = {
    label: 'Move pane into a tab of its own',
    icon: SquareArrowOutUpRight,
    onSelect: () => change((now) => breakOut(now, tab.active)),
  }
  return [
    add('New terminal', Plus, 'Enter', workspace.open),
    add('Split right', Columns2, 'E', () => split('right')),
    add('Split down', Rows2, 'O', () => split('down')),
    ...(panes.length > 1 ? [breakOutPane] : []),
    { label: 'Open closed terminal again', icon: History, onSelect: workspace.reopen },
    'separator',
    { label: 'Rename tab', icon: Pencil, hint: 'F2', onSelect: () => workspace.setRenaming(active) },
    move('Move tab left', ArrowLeft, -1, 'it is the first'),
    move('Move tab right', ArrowRight, 1, 'it is the last'),
    'separator',
    { label: 'Ports', icon: EthernetPort, onSelect: onPorts },
    hasOwnWindow
      ? { label: 'Show the console around it', icon: AppWindow, href: ownWindowHref }
      : {
          label: 'Open in a window of its own',
          icon: AppWindow,
          onSelect: () => window.open(ownWindowHref, '_blank', 'noopener,popup,width=1100,height=750'),
        },
    {
      label: fullWindow.isFullScreen ? 'Leave full screen' : 'Full screen',
      icon: fullWindow.isFullScreen ? Minimize : Fullscreen,
      onSelect: fullWindow.toggleFullScreen,
    },
  ]
}

/** A menu has room for text only, so what would act unseen in a title is spelled out. */
const plain = (title: string): string =>
  visiblePieces(cutEnd(title, 60))
    .map(({ text }) => text)
    .join('')
