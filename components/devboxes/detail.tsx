'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Camera, Copy, Ellipsis, Pause, Pencil, Play, Power, RefreshCw } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useSelectedLayoutSegment } from 'next/navigation'
import { createContext, type ReactNode, use, useState } from 'react'
import { evictionOf } from '#components/alerts/alert-feed.ts'
import { EvictedBadge, EvictionBadge } from '#components/alerts/devbox-eviction.tsx'
import { alertQueries } from '#components/alerts/queries.ts'
import { DetailPage } from '#components/layout/detail-page.tsx'
import { DescribeDialog } from '#components/list/describe-dialog.tsx'
import { useTerminalsHref } from '#components/terminal/workspace/use-terminal-layout.ts'
import { Button } from '#components/ui/button.tsx'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { Tabs } from '#components/ui/tabs.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { type Devbox, devboxRefusal, resumeRefusal, shutdownRefusal } from '#lib/contract/devboxes.ts'
import { devboxMutations, devboxQueries, isMoving } from './queries.ts'
import { DevboxStatusBadge } from './status.tsx'
import { TimeLeftText, timeLeftOf } from './time-left.tsx'
import { type DevboxActions, useDevboxActions } from './use-devbox-actions.tsx'
import { useKeptAlive } from './use-kept-alive.ts'

const CreateDevboxDialog = dynamic(async () => (await import('./create/create-devbox-dialog.tsx')).CreateDevboxDialog)
const SnapshotProgress = dynamic(
  async () => (await import('#components/snapshots/snapshot-progress.tsx')).SnapshotProgress,
)
const SnapshotDialog = dynamic(async () => (await import('#components/snapshots/snapshot-dialog.tsx')).SnapshotDialog)

type Dialog = 'edit' | 'copy' | 'snapshot'

interface DevboxContextValue {
  devbox: Devbox
  serviceUrl: string
  actions: DevboxActions
  openDialog: (dialog: Dialog) => void
}

const DevboxContext = createContext<DevboxContextValue | null>(null)

export const useDevbox = (): DevboxContextValue => {
  const value = use(DevboxContext)
  if (!value) throw new Error('useDevbox must be used within DevboxDetail')
  return value
}

interface DevboxDetailProps {
  id: string
  serviceUrl: string
  children: ReactNode
}

export const DevboxDetail = ({ id, serviceUrl, children }: DevboxDetailProps) => {
  const actions = useDevboxActions()
  const [dialog, setDialog] = useState<Dialog>()
  const [newSnapshotId, setNewSnapshotId] = useState<string>()
  const tab = useSelectedLayoutSegment() ?? 'overview'
  const closeDialog = () => setDialog(undefined)
  return (
    <DetailPage kind="devbox" query={useQuery(devboxQueries.get(id))}>
      {(devbox) => (
        <DevboxContext value={{ devbox, serviceUrl, actions, openDialog: setDialog }}>
          <Header tab={tab} />
          {newSnapshotId && (
            <SnapshotProgress
              id={newSnapshotId}
              devboxId={id}
              tab={tab}
              onDismiss={() => setNewSnapshotId(undefined)}
            />
          )}
          {children}
          {actions.dialogs}
          {dialog === 'edit' && <EditDevboxDialog devbox={devbox} onClose={closeDialog} />}
          {dialog === 'copy' && <CreateDevboxDialog open like={devbox} onOpenChange={closeDialog} />}
          {dialog === 'snapshot' && (
            <SnapshotDialog
              devboxId={id}
              onClose={closeDialog}
              onCreated={(snapshot) => setNewSnapshotId(snapshot.id)}
            />
          )}
        </DevboxContext>
      )}
    </DetailPage>
  )
}

const Header = ({ tab }: { tab: string }) => {
  const { devbox, actions, openDialog } = useDevbox()
  const { data: feed } = useQuery(alertQueries.feed())
  const eviction = evictionOf(feed, devbox.id)
  const { id, name, status } = devbox
  useQuery({ ...devboxQueries.next(id, status), enabled: isMoving(devbox) })
  const left = timeLeftOf(devbox, eviction, useKeptAlive())
  const terminals = useTerminalsHref(id)
  const busy = actions.busyId === id
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
              needs="devboxes.resume"
              busy={busy}
              disabledReason={resumeRefusal(devbox)}
              onClick={() => actions.resume(devbox)}
            >
              Resume devbox
            </Button>
          ) : (
            <Button
              icon={Pause}
              needs="devboxes.suspend"
              busy={busy}
              disabledReason={devboxRefusal('suspend', status)}
              onClick={() => actions.suspend(devbox)}
            >
              Suspend devbox
            </Button>
          )}
          <Button
            icon={Power}
            needs="devboxes.shutdown"
            disabledReason={shutdownRefusal(devbox)}
            onClick={() => actions.shutdown(devbox)}
          >
            Shut down devbox
          </Button>
          <DropdownMenu
            label="More actions"
            isOverflow
            trigger={<IconButton icon={Ellipsis} variant="secondary" label="More actions" />}
            items={[
              {
                label: 'Take snapshot',
                needs: 'snapshots.createAsync',
                icon: Camera,
                disabledReason: devboxRefusal('snapshot', status),
                onSelect: () => openDialog('snapshot'),
              },
              {
                label: 'Edit name and metadata',
                needs: 'devboxes.update',
                icon: Pencil,
                onSelect: () => openDialog('edit'),
              },
              { label: 'Duplicate devbox', needs: 'devboxes.create', icon: Copy, onSelect: () => openDialog('copy') },
              {
                label: 'Restart keep-alive timer',
                needs: 'devboxes.keepAlive',
                icon: RefreshCw,
                disabledReason: devboxRefusal('keep_alive', status),
                onSelect: () => actions.keepAlive(devbox),
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

/** Mount on open, so that it starts from the current values. */
const EditDevboxDialog = ({ devbox, onClose }: { devbox: Devbox; onClose: () => void }) => {
  const update = useMutation(devboxMutations.update())
  return (
    <DescribeDialog
      title="Edit devbox"
      needs="devboxes.update"
      submitLabel="Save changes"
      saved={devbox}
      metadataKeys={devboxQueries.metadataKeys()}
      saving={update}
      onSave={({ name, metadata }, base) =>
        update.mutate({ id: devbox.id, base, change: { name, metadata } }, { onSuccess: onClose })
      }
      onClose={onClose}
    />
  )
}
