import type { ReactNode } from 'react'
import { EvictedBanner } from '#components/evictions/evicted.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { formatDurationMs } from '#lib/console/frame/format.ts'
import type { Devbox } from '#lib/contract/devboxes.ts'
import { Lifetime } from './lifetime.tsx'
import { StateHistory } from './state-history.tsx'

export const DevboxOverview = ({ devbox }: { devbox: Devbox }) => (
  <div className="grid items-start gap-x-10 gap-y-8 lg:grid-cols-[minmax(0,3fr)_minmax(18rem,2fr)]">
    <div className="min-w-0 space-y-8">
      <Ending devbox={devbox} />
      <EvictedBanner devbox={devbox} />
      <Section title="Devbox">
        <DevboxFacts devbox={devbox} />
      </Section>
      <Section title="Metadata">
        <MetadataChips
          metadata={devbox.metadata}
          hrefFor={(key, value) => paths.devboxes({ metadata: [{ key, op: 'eq', value }] })}
          empty={<p className="text-muted">None. Metadata makes a devbox findable in the list.</p>}
        />
      </Section>
      {devbox.isolation && (
        <Section title="Isolation">
          <Isolation isolation={devbox.isolation} />
        </Section>
      )}
      <Section title="Launch parameters">
        <LaunchParameters devbox={devbox} />
      </Section>
    </div>
    <Section title="State history">
      <StateHistory devbox={devbox} />
    </Section>
  </div>
)

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <section aria-label={title} className="min-w-0 space-y-3">
    <h2 className="border-b border-line pb-1.5 text-lg font-medium">{title}</h2>
    {children}
  </section>
)

const DevboxFacts = ({ devbox }: { devbox: Devbox }) => {
  const { launch_parameters: launch, tunnel } = devbox
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
      {devbox.initiator_type && (
        <Fact label="Started by">{[devbox.initiator_type, devbox.initiator_id].filter(Boolean).join(' ')}</Fact>
      )}
      {devbox.capabilities.length > 0 && <Fact label="Capabilities">{devbox.capabilities.join(', ')}</Fact>}
      <Fact label="Tunnel">{tunnel ? `${tunnel.auth_mode}, key ${tunnel.tunnel_key}` : 'None'}</Fact>
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

/** Why it ended, in words. */
const Ending = ({ devbox: { status, failure_reason, shutdown_reason } }: { devbox: Devbox }) => {
  if (status === 'failure')
    return (
      <Banner tone="danger" title="This devbox failed">
        {failure_reason ? wordsFor(failureWords, failure_reason) : 'The service gave no reason.'}
      </Banner>
    )
  if (status === 'shutdown')
    return (
      <Banner tone="neutral" title="This devbox was shut down">
        {shutdown_reason ? wordsFor(shutdownWords, shutdown_reason) : 'The service gave no reason.'}
      </Banner>
    )
  return null
}

const wordsFor = (words: Record<string, string>, reason: string): ReactNode =>
  (Object.hasOwn(words, reason) && words[reason]) || <VisibleText max={300}>{reason}</VisibleText>

const failureWords: Record<string, string> = {
  out_of_memory: 'It ran out of memory.',
  out_of_disk: 'It ran out of disk.',
  execution_failed: 'A launch command or its entrypoint failed.',
  health_check_failed: 'It stopped answering health checks.',
}
const shutdownWords: Record<string, string> = {
  api_shutdown: 'By a call of the API or by this console.',
  keep_alive_timeout: 'Its keep-alive time was over.',
  entrypoint_exit: 'Its entrypoint ended.',
  idle: 'It was idle for longer than it was allowed to be.',
  ttl_expired: 'It reached the end of its lifetime.',
}
