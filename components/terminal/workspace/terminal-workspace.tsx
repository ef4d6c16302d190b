'use client'
import dynamic from 'next/dynamic'
import { useRouter } from 'next/navigation'
import { type ReactNode, useId, useState } from 'react'
import { classes } from '#components/ui/classes.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { terminalsOf } from '#lib/terminal/layout/moves.ts'
import { TerminalPane } from '../pane/terminal-pane.tsx'
import { useDevboxPort } from '../tools/use-devbox-port.tsx'
import { PaneActions } from './pane-actions.tsx'
import { TerminalArea } from './terminal-area.tsx'
import { type PanePlace, TerminalSplits } from './terminal-splits.tsx'
import { TerminalTabs } from './terminal-tabs.tsx'
import { useFullWindow } from './use-full-window.ts'
import { useNoStrayDrops } from './use-no-stray-drops.ts'
import { useWorkspace } from './use-workspace.ts'
import { useWorkspaceKeys } from './use-workspace-keys.ts'
import { WorkspaceMenu } from './workspace-menu.tsx'

const PortsDialog = dynamic(async () => (await import('../tools/ports-dialog.tsx')).PortsDialog)

export interface TerminalWorkspaceProps {
  devboxId: string
  /** Why the devbox can't open a shell; null while it runs. */
  refusal: string | null
  revive?: ReactNode
  onNotRunning: () => void
}

/** Terminals of a devbox in tabs and splits. The layout is in the address. */
export const TerminalWorkspace = ({ devboxId, refusal, revive, onNotRunning }: TerminalWorkspaceProps) => {
  const router = useRouter()
  const panelId = useId()
  const workspace = useWorkspace(devboxId)
  const { layout, panes, alone, statusOf } = workspace
  const port = useDevboxPort(devboxId)
  const [isAtPorts, setIsAtPorts] = useState(false)
  const fullWindow = useFullWindow(workspace.hasOwnWindow)
  useWorkspaceKeys(fullWindow.element, workspace.perform)
  useNoStrayDrops()

  // Visible terminals connect first.
  const [isSettled, setIsSettled] = useState(false)
  if (!isSettled && !(alone ? [alone] : panes).some((name) => statusOf(name).phase === 'connecting')) setIsSettled(true)

  const renderPane = (name: string, { isVisible, isActive }: PanePlace) =>
    (isVisible || isSettled || workspace.isKnown(name)) && (
      <TerminalPane
        devboxId={devboxId}
        name={name}
        isVisible={isVisible}
        isActive={isVisible && isActive}
        refusal={refusal}
        revive={revive}
        onNotRunning={onNotRunning}
        onTitle={(title) => workspace.setTitle(name, title)}
        onStatus={(status) => workspace.setStatus(name, status)}
        onFocus={() => isVisible && workspace.activate(name)}
        onClose={() =>
          terminalsOf(layout).length > 1 ? workspace.closePane(name) : router.push(paths.devbox(devboxId))
        }
        actions={<PaneActions workspace={workspace} name={name} />}
      />
    )

  return (
    <>
      <TerminalArea>
        <div
          ref={fullWindow.element}
          className={classes(
            'flex h-full min-h-0 flex-col',
            fullWindow.isFull && 'fixed inset-0 z-30 h-auto bg-surface-0 p-1.5',
          )}
        >
          <div className="flex items-end gap-1">
            <TerminalTabs workspace={workspace} panelId={panelId} />
            <WorkspaceMenu workspace={workspace} fullWindow={fullWindow} onPorts={() => setIsAtPorts(true)} />
          </div>
          <TerminalSplits workspace={workspace} panelId={panelId} renderPane={renderPane} />
        </div>
      </TerminalArea>
      {isAtPorts && <PortsDialog devboxId={devboxId} onOpenPort={port.open} onClose={() => setIsAtPorts(false)} />}
      {port.dialog}
    </>
  )
}
