import { Columns2, type LucideIcon, Maximize2, Minimize2, Rows2, X } from 'lucide-react'
import { IconButton } from '#components/ui/icon-button.tsx'
import type { SplitDirection } from '#lib/terminal/layout/layout.ts'
import type { Workspace } from './use-workspace.ts'

export const PaneActions = ({ workspace, name }: { workspace: Workspace; name: string }) => {
  const { panes, isNarrow, tooMany, activate, split } = workspace
  const isMaximized = workspace.maximized === name
  const maximize = () => {
    workspace.toggleMaximized(name)
    activate(name)
    workspace.focus(name)
  }
  const place = panes.indexOf(name)
  if (isNarrow)
    return (
      panes.length > 1 && (
        <button
          type="button"
          onClick={() => activate(panes[(place + 1) % panes.length] as string)}
          className="tabular h-6 shrink-0 rounded-md border border-line px-2 text-sm hover:bg-surface-2"
        >
          <span className="sr-only">Show the next pane. This is </span>
          {place + 1} of {panes.length}
        </button>
      )
    )
  const splitButton = (label: string, icon: LucideIcon, way: SplitDirection) => (
    <IconButton
      size="sm"
      icon={icon}
      label={label}
      disabledReason={tooMany}
      onClick={() => split(way, name)}
      className="@max-md:hidden"
    />
  )
  return (
    <>
      {splitButton('Split right', Columns2, 'right')}
      {splitButton('Split down', Rows2, 'down')}
      {panes.length > 1 && (
        <>
          <IconButton
            size="sm"
            icon={isMaximized ? Minimize2 : Maximize2}
            label={isMaximized ? 'Show all panes' : 'Maximize pane'}
            onClick={maximize}
          />
          <IconButton
            size="sm"
            icon={X}
            label="Close pane (the shell keeps running)"
            onClick={() => workspace.closePane(name)}
          />
        </>
      )}
    </>
  )
}
