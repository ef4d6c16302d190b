'use client'
import { useQuery } from '@tanstack/react-query'
import { Camera, Copy, Ellipsis, Pause, Pencil, Play, Power, RefreshCw } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { evictionOf } from '#components/alerts/alert-feed.ts'
import { EvictedBadge, EvictionBadge } from '#components/alerts/devbox-eviction.tsx'
import { alertQueries } from '#components/alerts/queries.ts'
import { DetailPage } from '#components/layout/detail-page.tsx'
import { useTerminalsHref } from '#components/terminal/workspace/use-terminal-request.ts'
import { Button } from '#components/ui/button.tsx'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { Tabs } from '#components/ui/tabs.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { type Devbox, devboxRefusal, resumeRefusal, shutdownRefusal } from '#lib/contract/devboxes.ts'
import { DevboxStatusBadge } from './devbox-status.tsx'
import type { DevboxTab } from './devbox-tab.ts'
import { devboxQueries, isMoving } from './queries.ts'
import { timeLeftOf } from './time-left.ts'
import { TimeLeftText } from './time-left-text.tsx'
import { type DevboxMoves, useDevboxMoves } from './use-devbox-moves.tsx'

// The code of a tab comes with its page, which the server draws: what is typed before it is alive would be lost.
const CommandPanel = dynamic(() => import('#components/commands/command-panel.tsx').then((tab) => tab.CommandPanel))
const DevboxOverview = dynamic(() => import('./overview/devbox-overview.tsx').then((tab) => tab.DevboxOverview))
const DevboxSnapshots = dynamic(() =>
  import('#components/snapshots/devbox-snapshots.tsx').then((tab) => tab.DevboxSnapshots),
)
const DevboxTerminal = dynamic(() => import('./devbox-terminal.tsx').then((tab) => tab.DevboxTerminal))
const FilesTab = dynamic(() => import('#components/files/files-tab.tsx').then((tab) => tab.FilesTab))
const LogPanel = dynamic(() => import('./log/log-panel.tsx').then((tab) => tab.LogPanel))
// Begun before the terminal's own code, which would begin it once the rest of the page is alive.
if (typeof location === 'object' && new URLSearchParams(location.search).get('tab') === 'terminal')
  import('#components/terminal/pane/draw-terminal.ts').catch(() => undefined)
const CreateDevboxDialog = loadOnUse(async () => (await import('./create/create-devbox-dialog.tsx')).CreateDevboxDialog)
const SnapshotProgress = loadOnUse(
  async () => (await import('#components/snapshots/snapshot-progress.tsx')).SnapshotProgress,
)
const EditDevboxDialog = loadOnUse(async () => (await import('./edit-devbox-dialog.tsx')).EditDevboxDialog)

const SnapshotDialog = loadOnUse(async () => (await import('#components/snapshots/snapshot-dialog.tsx')).SnapshotDialog)

type Opened = 'edit' | 'copy' | 'snapshot'

export const DevboxDetail = ({ id, tab, serviceUrl }: { id: string; tab: DevboxTab; serviceUrl: string }) => {
  const moves = useDevboxMoves()
  const [opened, setOpened] = useState<Opened>()
  const [takenId, setTakenId] = useState<string>()
  const close = () => setOpened(undefined)
  return (
    <DetailPage kind="devbox" query={useQuery(devboxQueries.get(id))}>
      {(devbox) => (
        <>
          <Header devbox={devbox} tab={tab} moves={moves} onOpen={setOpened} />
          {takenId && <SnapshotProgress id={takenId} devboxId={id} tab={tab} onDismiss={() => setTakenId(undefined)} />}
          {tab === 'overview' && (
            <DevboxOverview devbox={devbox} serviceUrl={serviceUrl} moves={moves} onOpen={setOpened} />
          )}
          {tab === 'terminal' && <DevboxTerminal devbox={devbox} moves={moves} />}
          {tab === 'commands' && <CommandPanel devbox={devbox} serviceUrl={serviceUrl} />}
          {tab === 'files' && <FilesTab devbox={devbox} busy={moves.busyId === id} onResume={moves.resume} />}
          {tab === 'log' && <LogPanel devboxId={id} />}
          {tab === 'snapshots' && <DevboxSnapshots devbox={devbox} />}
          {moves.dialogs}
          {opened === 'edit' && <EditDevboxDialog devbox={devbox} onClose={close} />}
          {opened === 'copy' && <CreateDevboxDialog open like={devbox} onOpenChange={close} />}
          {opened === 'snapshot' && (
            <SnapshotDialog devboxId={id} onClose={close} onTaken={(snapshot) => setTakenId(snapshot.id)} />
          )}
        </>
      )}
    </DetailPage>
  )
}

interface HeaderProps {
  devbox: Devbox
  tab: DevboxTab
  moves: DevboxMoves
  onOpen: (what: Opened) => void
}

const Header = ({ devbox, tab, moves, onOpen }: HeaderProps) => {
  const { data: feed } = useQuery(alertQueries.feed())
  const eviction = evictionOf(feed, devbox.id)
  const { id, name, status } = devbox
  useQuery({ ...devboxQueries.next(id, status), enabled: isMoving(devbox) })
  const left = timeLeftOf(devbox, eviction)
  const terminals = useTerminalsHref(id)
  const busy = moves.busyId === id
  return (
    <PageHeader
      title={name || 'Unnamed devbox'}
      id={id}
      badge={
        <span className="inline-flex flex-wrap items-center gap-1.5">
          <span role="status">
            <DevboxStatusBadge status={status} />
          </span>
          {eviction && <EvictionBadge eviction={eviction} />}
          <EvictedBadge devbox={devbox} />
          {left && left.cause !== 'eviction' && <TimeLeftText left={left} />}
        </span>
      }
      actions={
        <>
          {!resumeRefusal(devbox) || status === 'resuming' ? (
            <Button
              icon={Play}
              variant="primary"
              busy={busy}
              disabledReason={resumeRefusal(devbox)}
              onClick={() => moves.resume(devbox)}
            >
              Resume devbox
            </Button>
          ) : (
            <Button
              icon={Pause}
              busy={busy}
              disabledReason={devboxRefusal('suspend', status)}
              onClick={() => moves.suspend(devbox)}
            >
              Suspend devbox
            </Button>
          )}
          <Button icon={Power} disabledReason={shutdownRefusal(devbox)} onClick={() => moves.shutdown(devbox)}>
            Shut down devbox
          </Button>
          <DropdownMenu
            label="More actions"
            trigger={<IconButton icon={Ellipsis} variant="secondary" label="More actions" />}
            items={[
              {
                label: 'Take snapshot',
                icon: Camera,
                disabledReason: devboxRefusal('snapshot', status),
                onSelect: () => onOpen('snapshot'),
              },
              { label: 'Edit name and metadata', icon: Pencil, onSelect: () => onOpen('edit') },
              { label: 'Create one like it', icon: Copy, onSelect: () => onOpen('copy') },
              {
                label: 'Start keep-alive time anew',
                icon: RefreshCw,
                disabledReason: devboxRefusal('keep_alive', status),
                onSelect: () => moves.keepAlive(devbox),
              },
            ]}
          />
        </>
      }
    >
      <Tabs
        label="Devbox"
        current={tab}
        tabs={[
          { id: 'overview', label: 'Overview', href: paths.devbox(id) },
          { id: 'terminal', label: 'Terminal', href: terminals },
          { id: 'commands', label: 'Commands', href: paths.devbox(id, 'commands') },
          { id: 'files', label: 'Files', href: paths.devbox(id, 'files') },
          { id: 'log', label: 'Log', href: paths.devbox(id, 'log') },
          { id: 'snapshots', label: 'Snapshots', href: paths.devbox(id, 'snapshots') },
        ]}
      />
    </PageHeader>
  )
}
