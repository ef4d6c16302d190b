'use client'
import { useQuery } from '@tanstack/react-query'
import {
  AppWindow,
  ArrowLeft,
  ArrowRight,
  Ellipsis,
  EthernetPort,
  Fullscreen,
  Layers,
  type LucideIcon,
  Maximize2,
  Minimize,
  Minimize2,
  Pencil,
  Pin,
  PinOff,
  Plus,
  SquareTerminal,
  X,
} from 'lucide-react'
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
import { DropdownMenu, type MenuItem } from '#components/ui/dropdown-menu.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { useRefusal } from '#components/ui/refusals.ts'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { cutEnd, visiblePieces } from '#components/ui/text.ts'
import { toast } from '#components/ui/toast.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { terminalsPath } from '#lib/browser/address/terminals-path.ts'
import { formatCountOf } from '#lib/browser/format.ts'
import { serviceNow } from '#lib/client/clock.ts'
import type { HeldTerminal } from '#lib/protocol/terminals.ts'
import { singleTab } from '#lib/terminal/layout/layout.ts'
import { moveTab, pinTab, terminalsOf } from '#lib/terminal/layout/moves.ts'
import { TerminalPane } from '../pane/terminal-pane.tsx'
import { terminalQueries } from '../queries.ts'
import { PortsDialog, useDevboxPort } from '../tools/devbox-port.tsx'
import { keysOf } from '../tools/terminal-items.tsx'
import { type PanePlace, TerminalSplits } from './terminal-splits.tsx'
import { TerminalTabs } from './terminal-tabs.tsx'
import { useWorkspace, type Workspace } from './use-workspace.ts'
import { type WorkspaceMove, workspaceMove } from './workspace-keys.ts'

interface TerminalWorkspaceProps {
  devboxId: string
  refusal: string | null
  revive?: ReactNode
  onNotRunning: () => void
}

/** Terminals of a devbox in tabs and splits. The layout is in the address. */
export const TerminalWorkspace = (props: TerminalWorkspaceProps) =>
  useRefusal('/api/terminals') === null ? <WorkspaceView {...props} /> : <FollowedWorkspace {...props} />

/** For people who may only follow. Opens no shell, so it starts with the ones that others have opened. */
const FollowedWorkspace = (props: TerminalWorkspaceProps) => {
  const query = useQuery(terminalQueries.followable(props.devboxId))
  const { data: held, error } = query
  const [toFollow, setToFollow] = useState<readonly string[]>()
  if (!toFollow && held && held.length > 0) setToFollow(held.map(({ name }) => name))
  if (toFollow) return <WorkspaceView {...props} toFollow={toFollow} />
  if (held)
    return (
      <EmptyState icon={SquareTerminal} title="No shell is open">
        Viewers can follow one when someone opens it.
      </EmptyState>
    )
  if (error) return <ErrorState title="The open shells could not be loaded" error={error} query={query} />
  return <SkeletonRows columns={1} label="Loading shells" />
}

const WorkspaceView = ({
  devboxId,
  refusal,
  revive,
  onNotRunning,
  toFollow,
}: TerminalWorkspaceProps & { toFollow?: readonly string[] }) => {
  const router = useRouter()
  const panelId = useId()
  const workspace = useWorkspace(devboxId)
  const { layout, panes, alone, statusOf } = workspace
  const followFirst = useEffectEvent(() => {
    const [first] = toFollow ?? []
    if (first !== undefined && !terminalsOf(layout).some((name) => toFollow?.includes(name)))
      workspace.change(() => ({ tabs: [singleTab(first)], active: 0 }), 'replace')
  })
  useEffect(() => followFirst(), [])
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
        split={
          workspace.isNarrow ? undefined : { refusal: workspace.tooMany, run: (way) => workspace.split(way, name) }
        }
        actions={<PaneActions workspace={workspace} name={name} />}
      />
    )

  if (workspace.isOpeningFolder)
    return (
      <TerminalArea>
        <p role="status" className="text-muted">
          Opening a terminal in the folder…
        </p>
      </TerminalArea>
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
  const { panes, isNarrow, activate } = workspace
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
  if (panes.length === 1) return null
  return (
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
  )
}

const WorkspaceMenu = ({
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
        needs="/api/terminals"
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
  return ends_at_ms !== null && `ends in ${Math.max(1, Math.round((ends_at_ms - serviceNow()) / 60_000))} min`
}

const actions = (workspace: Workspace): MenuItem[] => {
  const { layout, tooMany, change } = workspace
  const { tabs, active } = layout
  const move = (label: string, icon: LucideIcon, step: -1 | 1, atEnd: string): MenuItem => ({
    label,
    icon,
    disabledReason: tabs[active + step]?.isPinned === tabs[active]?.isPinned ? null : atEnd,
    onSelect: () => change((now) => moveTab(now, now.active, now.active + step), 'replace'),
  })
  return [
    {
      label: 'New terminal',
      needs: '/api/terminals',
      icon: Plus,
      hint: keysOf('terminal.new-tab'),
      disabledReason: tooMany,
      onSelect: workspace.open,
    },
    'separator',
    { label: 'Rename tab', icon: Pencil, hint: 'F2', onSelect: () => workspace.setRenaming(active) },
    {
      label: tabs[active]?.isPinned ? 'Unpin tab' : 'Pin tab',
      icon: tabs[active]?.isPinned ? PinOff : Pin,
      hint: 'P',
      onSelect: () => change((now) => pinTab(now, now.active, !tabs[active]?.isPinned), 'replace'),
    },
    move('Move tab left', ArrowLeft, -1, 'Already first'),
    move('Move tab right', ArrowRight, 1, 'Already last'),
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

/** Chrome and Edge only; missing in TypeScript's DOM types. */
interface KeyboardLock {
  keyboard?: { lock?: () => Promise<void>; unlock?: () => void }
}

interface FullWindow {
  element: RefObject<HTMLDivElement | null>
  isFull: boolean
  isFullScreen: boolean
  toggleFullScreen: () => void
}

/** Lets an element fill the window. Full screen also locks the keyboard, so that Ctrl+W and Esc reach the shell. */
const useFullWindow = (hasOwnWindow: boolean): FullWindow => {
  const element = useRef<HTMLDivElement>(null)
  const [isFullScreen, setIsFullScreen] = useState(false)
  const isFull = hasOwnWindow || isFullScreen

  useEffect(() => {
    const look = () => setIsFullScreen(document.fullscreenElement !== null)
    document.addEventListener('fullscreenchange', look)
    return () => {
      document.removeEventListener('fullscreenchange', look)
      if (document.fullscreenElement) void leave()
    }
  }, [])

  // Covered elements must not take focus. Dialogs and toasts are outside the frame.
  useEffect(() => {
    if (!isFull) return
    const covered: HTMLElement[] = []
    for (let at: HTMLElement | null = element.current; at?.parentElement; at = at.parentElement) {
      if (at.parentElement === document.body) break
      for (const other of at.parentElement.children)
        if (other !== at && other instanceof HTMLElement && !other.inert) covered.push(other)
    }
    for (const each of covered) each.inert = true
    return () => {
      for (const each of covered) each.inert = false
    }
  }, [isFull])

  const toggleFullScreen = () => {
    if (document.fullscreenElement) return void leave()
    enter().catch(() => toast.attention('The browser blocked full screen'))
  }
  return { element, isFull, isFullScreen, toggleFullScreen }
}

const enter = async () => {
  // The whole page, so that dialogs and toasts stay visible.
  await document.documentElement.requestFullscreen({ navigationUI: 'hide' })
  const isLocked = await (navigator as KeyboardLock).keyboard?.lock?.().then(
    () => true,
    () => false,
  )
  toast.info('Full screen', {
    description: isLocked
      ? 'All keys go to the terminal. Hold Esc to leave.'
      : 'This browser reserves Esc, Ctrl+W and Ctrl+T. Press Esc to leave.',
  })
}

const leave = async () => {
  ;(navigator as KeyboardLock).keyboard?.unlock?.()
  // Fails if the user has just left full screen.
  await document.exitFullscreen().catch(() => undefined)
}
