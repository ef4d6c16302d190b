'use client'
import { Columns2, type LucideIcon, Maximize2, Minimize2, Rows2, X } from 'lucide-react'
import { useRouter } from 'next/navigation'
import {
  type ReactNode,
  type RefObject,
  useEffect,
  useEffectEvent,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { classes } from '#components/ui/classes.ts'
import { IconButton } from '#components/ui/icon-button.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { type WorkspaceMove, workspaceMove } from '#lib/terminal/layout/keys.ts'
import type { SplitDirection } from '#lib/terminal/layout/layout.ts'
import { terminalsOf } from '#lib/terminal/layout/moves.ts'
import { TerminalPane } from '../pane/terminal-pane.tsx'
import { PortsDialog, useDevboxPort } from '../tools/devbox-port.tsx'
import { type PanePlace, TerminalSplits } from './terminal-splits.tsx'
import { TerminalTabs } from './terminal-tabs.tsx'
import { useFullWindow } from './use-full-window.ts'
import { useWorkspace, type Workspace } from './use-workspace.ts'
import { WorkspaceMenu } from './workspace-menu.tsx'

interface TerminalWorkspaceProps {
  devboxId: string
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

/** Extends to the bottom of the window. */
const TerminalArea = ({ children }: { children: ReactNode }) => {
  const area = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = area.current
    const main = element?.closest('main')
    if (!element || !main) return
    const measure = () => {
      const top = element.getBoundingClientRect().top + window.scrollY
      element.style.setProperty('--terminal-top', `${Math.round(top)}px`)
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(main)
    return () => observer.disconnect()
  }, [])
  return (
    <div ref={area} className="h-[max(20.5rem,calc(100dvh-var(--terminal-top,20rem)-1.75rem))]">
      {children}
    </div>
  )
}

/** Handles tab and pane shortcuts before the terminal, and also while nothing has focus. */
const useWorkspaceKeys = (workspace: RefObject<HTMLElement | null>, perform: (move: WorkspaceMove) => void) => {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const { target } = event
    const isOurs = target === document.body || (target instanceof Node && workspace.current?.contains(target))
    const move = isOurs ? workspaceMove(event) : null
    if (!move || event.isComposing || isField(target)) return
    event.preventDefault()
    event.stopPropagation()
    if (!event.repeat || move.kind === 'go') perform(move)
  })
  useEffect(() => {
    const listening = new AbortController()
    window.addEventListener('keydown', (event) => press(event), { capture: true, signal: listening.signal })
    return () => listening.abort()
  }, [])
}

/** These shortcuts select words in text fields, except in the terminal's own. */
const isField = (target: EventTarget | null) =>
  target instanceof Element && target.matches('input, textarea:not(.xterm-helper-textarea)')

/** Prevents the browser from navigating to a file dropped outside a terminal. */
const useNoStrayDrops = (): void =>
  useEffect(() => {
    const listening = new AbortController()
    const refuse = (event: DragEvent) => {
      if (event.defaultPrevented || !event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      event.dataTransfer.dropEffect = 'none'
    }
    window.addEventListener('dragover', refuse, { signal: listening.signal })
    window.addEventListener('drop', refuse, { signal: listening.signal })
    return () => listening.abort()
  }, [])

const PaneActions = ({ workspace, name }: { workspace: Workspace; name: string }) => {
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
