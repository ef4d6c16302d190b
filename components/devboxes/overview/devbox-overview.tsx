'use client'
import { useQuery } from '@tanstack/react-query'
import { Pencil, RefreshCw } from 'lucide-react'
import type { ReactNode } from 'react'
import { evictionOf } from '#components/alerts/alert-feed.ts'
import { EvictedBanner } from '#components/alerts/devbox-eviction.tsx'
import { alertQueries } from '#components/alerts/queries.ts'
import { Button } from '#components/ui/button.tsx'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatDurationMs } from '#lib/browser/format.ts'
import { type Devbox, devboxRefusal } from '#lib/contract/devboxes.ts'
import { Lifetime } from '../lifetime.tsx'
import { timeLeftOf } from '../time-left.ts'
import { TimeLeftText } from '../time-left-text.tsx'
import type { DevboxMoves } from '../use-devbox-moves.tsx'
import { Ending } from './ending.tsx'
import { Origin } from './origin.tsx'
import { RawDevbox } from './raw-devbox.tsx'
import { StateHistory } from './state-history.tsx'
import { Tunnel } from './tunnel.tsx'
import { Usage } from './usage.tsx'

interface DevboxOverviewProps {
  devbox: Devbox
  serviceUrl: string
  moves: DevboxMoves
  onOpen: (what: 'edit' | 'copy') => void
}

export const DevboxOverview = ({ devbox, serviceUrl, moves, onOpen }: DevboxOverviewProps) => (
  <div className="grid items-start gap-x-10 gap-y-8 lg:grid-cols-[minmax(0,3fr)_minmax(18rem,2fr)]">
    <div className="min-w-0 space-y-8">
      <Ending devbox={devbox} onCopy={() => onOpen('copy')} />
      <EvictedBanner devbox={devbox} />
      <Section title="Devbox">
        <DevboxFacts devbox={devbox} moves={moves} />
      </Section>
      <Section
        title="Metadata"
        action={
          <Button size="sm" variant="ghost" icon={Pencil} onClick={() => onOpen('edit')}>
            Edit metadata
          </Button>
        }
      >
        <MetadataChips
          metadata={devbox.metadata}
          hrefFor={(key, value) => paths.devboxes({ metadata: [{ key, op: 'eq', value }] })}
          empty={<p className="text-muted">None. Metadata makes a devbox findable in the list.</p>}
        />
      </Section>
      <Section title="Usage">
        <Usage devbox={devbox} />
      </Section>
      <Section title="Launch parameters">
        <LaunchParameters devbox={devbox} />
      </Section>
      <RawDevbox devbox={devbox} />
    </div>
    <div className="min-w-0 space-y-8">
      <Section title="State history">
        <StateHistory devbox={devbox} />
      </Section>
      <Section title="Tunnel">
        <Tunnel devbox={devbox} serviceUrl={serviceUrl} />
      </Section>
      {devbox.isolation && (
        <Section title="Isolation">
          <Isolation isolation={devbox.isolation} />
        </Section>
      )}
    </div>
  </div>
)

interface SectionProps {
  title: string
  action?: ReactNode
  children: ReactNode
}

const Section = ({ title, action, children }: SectionProps) => (
  <section aria-label={title} className="min-w-0 space-y-3">
    <div className="flex min-h-8 flex-wrap items-center justify-between gap-2 border-b border-line pb-1">
      <h2 className="text-lg font-medium">{title}</h2>
      {action}
    </div>
    {children}
  </section>
)

type DevboxFactsProps = Pick<DevboxOverviewProps, 'devbox' | 'moves'>

const DevboxFacts = ({ devbox, moves }: DevboxFactsProps) => {
  const { data: feed } = useQuery(alertQueries.feed())
  const left = timeLeftOf(devbox, evictionOf(feed, devbox.id))
  const { launch_parameters: launch, status } = devbox
  return (
    <Facts>
      <Fact label="Created">
        <RelativeTime ms={devbox.create_time_ms} />
      </Fact>
      {devbox.end_time_ms !== null && (
        <Fact label="Ended">
          <RelativeTime ms={devbox.end_time_ms} />
        </Fact>
      )}
      <Fact label="Lifetime">
        <Lifetime devbox={devbox} />
      </Fact>
      {left && (
        <Fact label="Time left" className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <TimeLeftText left={left} />
          {left.cause === 'keep_alive' && (
            <Button
              size="sm"
              icon={RefreshCw}
              disabledReason={devboxRefusal('keep_alive', status)}
              onClick={() => moves.keepAlive(devbox)}
            >
              Keep alive
            </Button>
          )}
        </Fact>
      )}
      {launch.keep_alive_time_seconds != null && (
        <Fact label="Keep-alive time">{formatDurationMs(launch.keep_alive_time_seconds * 1000)}</Fact>
      )}
      <Fact label="Size">{sizeText(launch)}</Fact>
      {launch.architecture && <Fact label="Architecture">{launch.architecture}</Fact>}
      {devbox.blueprint_id && (
        <Fact label="Blueprint">
          <CopyableId value={devbox.blueprint_id} label="blueprint id" />
        </Fact>
      )}
      {devbox.snapshot_id && (
        <Fact label="Snapshot">
          <CopyableId value={devbox.snapshot_id} label="snapshot id" />
        </Fact>
      )}
      <Origin devbox={devbox} />
      {devbox.capabilities.length > 0 && <Fact label="Capabilities">{devbox.capabilities.join(', ')}</Fact>}
    </Facts>
  )
}

const sizeText = (launch: Devbox['launch_parameters']): string => {
  const custom = [
    launch.custom_cpu_cores && `${launch.custom_cpu_cores} cores`,
    launch.custom_gb_memory && `${launch.custom_gb_memory} GB memory`,
    launch.custom_disk_size && `${launch.custom_disk_size} GB disk`,
  ].filter(Boolean)
  if (custom.length > 0) return custom.join(', ')
  return launch.resource_size_request ?? 'Default of the service'
}

const LaunchParameters = ({ devbox: { launch_parameters: launch } }: { devbox: Devbox }) => {
  const commands = launch.launch_commands ?? []
  const given = Object.entries(launch).filter(
    ([, value]) => value != null && !(Array.isArray(value) && value.length === 0),
  )
  const rest = given.filter(([name]) => name !== 'launch_commands')
  if (given.length === 0) return <p className="text-muted">None were given.</p>
  return (
    <div className="space-y-3">
      {commands.length > 0 && (
        <ol aria-label="Launch commands" className="overflow-hidden rounded-md border border-line">
          {commands.map((command, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the commands of a devbox never change
            <li key={index} className="flex gap-3 border-line px-3 py-1.5 font-mono text-sm not-first:border-t">
              <span aria-hidden className="tabular text-muted select-none">
                {index + 1}
              </span>
              <VisibleText max={2000} className="min-w-0 break-all">
                {command}
              </VisibleText>
            </li>
          ))}
        </ol>
      )}
      {rest.length > 0 && (
        <Facts mono>
          {rest.map(([name, value]) => (
            <Fact key={name} label={name} className="break-all">
              <VisibleText max={2000}>{typeof value === 'object' ? JSON.stringify(value) : String(value)}</VisibleText>
            </Fact>
          ))}
        </Facts>
      )}
    </div>
  )
}

const Isolation = ({ isolation: { sandbox, not_enforced } }: { isolation: NonNullable<Devbox['isolation']> }) => (
  <div className="space-y-2">
    <p>
      {sandbox === 'bubblewrap'
        ? 'Bubblewrap: processes, files and users of its own.'
        : sandbox === 'none'
          ? 'None: its processes are plain processes of the machine.'
          : sandbox}
    </p>
    {not_enforced.length > 0 && (
      <>
        <p className="text-muted">Not enforced on this machine:</p>
        <ul className="list-disc space-y-1 pl-5">
          {not_enforced.map((sentence) => (
            <li key={sentence}>
              <VisibleText max={300}>{sentence}</VisibleText>
            </li>
          ))}
        </ul>
      </>
    )}
  </div>
)
