'use client'
import { useQuery } from '@tanstack/react-query'
import { Ellipsis, Pause, Pencil, Play, Power, RefreshCw, SearchX } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { EvictionBadge } from '#components/evictions/eviction-badge.tsx'
import { DevboxSnapshots } from '#components/snapshots/devbox-snapshots.tsx'
import { useTerminalsHref } from '#components/terminal/use-terminal-errands.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { Tabs } from '#components/ui/tabs.tsx'
import { useShownError } from '#components/ui/use-shown-error.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { isMissing, isPassing } from '#lib/console/api/failures.ts'
import { evictionOf } from '#lib/console/live/eviction-stream.ts'
import { devboxQueries } from '#lib/console/queries/devboxes.ts'
import { evictionQueries } from '#lib/console/queries/evictions.ts'
import { type Devbox, devboxRefusal, hasEnded } from '#lib/contract/devboxes.ts'
import { CommandPanel } from './command-panel.tsx'
import { DevboxOverview } from './devbox-overview.tsx'
import { DevboxStatusBadge } from './devbox-status.tsx'
import type { DevboxTab } from './devbox-tab.ts'
import { EditDevboxDialog } from './edit-devbox-dialog.tsx'
import { LogPanel } from './log-panel.tsx'
import { type DevboxMoves, useDevboxMoves } from './use-devbox-moves.tsx'

// As much code as all other tabs together. They come with the page: what is typed before they are alive would be lost.
const DevboxTerminal = dynamic(() => import('./devbox-terminal.tsx').then((tab) => tab.DevboxTerminal))

export const DevboxDetail = ({ id, tab }: { id: string; tab: DevboxTab }) => {
  const devbox = useQuery(devboxQueries.get(id))
  const moves = useDevboxMoves()
  const error = useShownError(devbox)
  if (!devbox.data) {
    if (isMissing(error)) return <DevboxMissing />
    if (!error) return <SkeletonRows columns={2} label="Loading the devbox" />
    return (
      <ErrorState
        title="The devbox could not be loaded"
        error={error}
        recovers={isPassing(error)}
        retrying={devbox.isFetching}
        onRetry={() => void devbox.refetch()}
        action={<ButtonLink href={paths.devboxes()}>All devboxes</ButtonLink>}
      />
    )
  }
  return (
    <>
      <Header devbox={devbox.data} tab={tab} moves={moves} />
      {devbox.isRefetchError && (
        <Banner tone="attention" role="status" className="mb-4 rounded-md" title="What is shown is old">
          It was read <RelativeTime ms={devbox.dataUpdatedAt} /> and could not be read since:{' '}
          {problemOf(devbox.error).message}
        </Banner>
      )}
      {tab === 'overview' && <DevboxOverview devbox={devbox.data} />}
      {tab === 'terminal' && <DevboxTerminal devbox={devbox.data} moves={moves} />}
      {tab === 'commands' && <CommandPanel devbox={devbox.data} />}
      {tab === 'log' && <LogPanel devboxId={id} />}
      {tab === 'snapshots' && <DevboxSnapshots devbox={devbox.data} />}
      {moves.dialogs}
    </>
  )
}

export const DevboxMissing = () => (
  <EmptyState
    icon={SearchX}
    title="There is no devbox with this id"
    titleAs="h1"
    action={<ButtonLink href={paths.devboxes()}>All devboxes</ButtonLink>}
  >
    It may belong to another account, or the address may be mistyped. Devboxes that have ended stay readable.
  </EmptyState>
)

const Header = ({ devbox, tab, moves }: { devbox: Devbox; tab: DevboxTab; moves: DevboxMoves }) => {
  const [isEditing, setIsEditing] = useState(false)
  const { data: feed } = useQuery(evictionQueries.feed())
  const eviction = evictionOf(feed, devbox.id)
  const { id, name, status } = devbox
  const terminals = useTerminalsHref(id)
  const busy = moves.busyId === id
  return (
    <PageHeader
      back={{ href: paths.devboxes(), label: 'Devboxes' }}
      title={name ? <VisibleText max={200}>{name}</VisibleText> : 'Unnamed devbox'}
      id={id}
      badge={
        <span className="inline-flex flex-wrap items-center gap-1.5">
          <span role="status">
            <DevboxStatusBadge status={status} />
          </span>
          {eviction && <EvictionBadge eviction={eviction} />}
        </span>
      }
      actions={
        <>
          {status === 'suspended' || status === 'resuming' ? (
            <Button
              icon={Play}
              variant="primary"
              busy={busy}
              disabledReason={devboxRefusal('resume', status)}
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
          <Button
            icon={Power}
            disabledReason={hasEnded(status) ? 'The devbox has ended already' : devboxRefusal('shutdown', status)}
            onClick={() => moves.shutdown(devbox)}
          >
            Shut down devbox
          </Button>
          <DropdownMenu
            label="More actions"
            trigger={<IconButton icon={Ellipsis} variant="secondary" label="More actions" />}
            items={[
              { label: 'Edit name and metadata', icon: Pencil, onSelect: () => setIsEditing(true) },
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
          { id: 'log', label: 'Log', href: paths.devbox(id, 'log') },
          { id: 'snapshots', label: 'Snapshots', href: paths.devbox(id, 'snapshots') },
        ]}
      />
      {isEditing && <EditDevboxDialog devbox={devbox} onClose={() => setIsEditing(false)} />}
    </PageHeader>
  )
}
