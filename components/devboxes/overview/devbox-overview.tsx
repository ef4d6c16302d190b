'use client'
import { useQuery } from '@tanstack/react-query'
import { Pencil, RefreshCw } from 'lucide-react'
import { evictionOf } from '#components/alerts/alert-feed.ts'
import { EvictedBanner, EvictedStep } from '#components/alerts/devbox-eviction.tsx'
import { alertQueries } from '#components/alerts/queries.ts'
import { scenarioRunQueries } from '#components/benchmarks/run/queries.ts'
import { NodeLink } from '#components/cluster/node-link.tsx'
import { useCluster } from '#components/cluster/queries.ts'
import { DevboxSpecs } from '#components/gateway-configs/devbox-specs.tsx'
import { Button } from '#components/ui/button.tsx'
import { CommandBlock } from '#components/ui/command-block.tsx'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { Section } from '#components/ui/section.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatDurationMs, formatElapsedMs } from '#lib/browser/format.ts'
import { type Devbox, devboxRefusal, hasEnded, isOfTrial, keepsDisk } from '#lib/contract/devboxes.ts'
import { useDevbox } from '../detail.tsx'
import { LaunchParameterList } from '../launch-parameter-list.tsx'
import { Lifetime } from '../lifetime.tsx'
import { DevboxStatusBadge } from '../status.tsx'
import { TimeLeftText, timeLeftOf } from '../time-left.tsx'
import { DevboxUsage } from '../usage/devbox-usage.tsx'
import { useKeptAlive } from '../use-kept-alive.ts'
import { Ending } from './ending.tsx'
import { Tunnel } from './tunnel.tsx'

export const DevboxOverview = () => {
  const { devbox, serviceUrl, openDialog } = useDevbox()
  return (
    <div className="grid items-start gap-x-10 gap-y-8 lg:grid-cols-[minmax(0,3fr)_minmax(18rem,2fr)]">
      <div className="min-w-0 space-y-8">
        <Ending devbox={devbox} onCopy={() => openDialog('copy')} />
        <EvictedBanner devbox={devbox} />
        <Section title="Devbox">
          <DevboxFacts />
        </Section>
        <Section
          title="Metadata"
          action={
            <Button size="sm" variant="ghost" icon={Pencil} needs="devboxes.update" onClick={() => openDialog('edit')}>
              Edit metadata
            </Button>
          }
        >
          <MetadataChips
            metadata={devbox.metadata}
            hrefFor={(key, value) => paths.devboxes({ metadata: [{ key, op: 'eq', value }] })}
            empty={<p className="text-muted">None. Add metadata to filter devboxes by.</p>}
          />
        </Section>
        <Section title="Usage">
          <DevboxUsage devbox={devbox} />
        </Section>
        <Section title="Launch parameters">
          <LaunchParameterList launch={devbox.launch_parameters} />
        </Section>
        <RawDevbox devbox={devbox} />
      </div>
      <div className="min-w-0 space-y-8">
        <Section title="State history">
          <StateHistory devbox={devbox} />
        </Section>
        <DevboxSpecs devbox={devbox} />
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
}

const DevboxFacts = () => {
  const { devbox, actions } = useDevbox()
  const { data: feed } = useQuery(alertQueries.feed())
  const left = timeLeftOf(devbox, evictionOf(feed, devbox.id), useKeptAlive())
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
              needs="devboxes.keepAlive"
              disabledReason={devboxRefusal('keep_alive', status)}
              onClick={() => actions.keepAlive(devbox)}
            >
              Keep alive
            </Button>
          )}
        </Fact>
      )}
      {launch.keep_alive_time_seconds != null && (
        <Fact label="Keep-alive time">{formatDurationMs(launch.keep_alive_time_seconds * 1000)}</Fact>
      )}
      {devbox.last_used_ms != null && (
        <Fact label="Last used">
          <RelativeTime ms={devbox.last_used_ms} />
        </Fact>
      )}
      <Fact label="Size">{sizeText(launch)}</Fact>
      {devbox.node && <NodeFact devbox={devbox} node={devbox.node} />}
      {launch.architecture && <Fact label="Architecture">{launch.architecture}</Fact>}
      {devbox.blueprint_id && (
        <Fact label="Blueprint">
          <TextLink href={paths.blueprint(devbox.blueprint_id)} className="font-mono text-sm break-all">
            {devbox.blueprint_id}
          </TextLink>
        </Fact>
      )}
      {devbox.snapshot_id && (
        <Fact label="Snapshot">
          <CopyableId value={devbox.snapshot_id} label="snapshot ID" />
        </Fact>
      )}
      <Origin devbox={devbox} />
      {devbox.capabilities.length > 0 && <Fact label="Capabilities">{devbox.capabilities.join(', ')}</Fact>}
    </Facts>
  )
}

const NodeFact = ({ devbox, node }: { devbox: Devbox; node: NonNullable<Devbox['node']> }) => {
  const cluster = useCluster()
  const { status } = devbox
  const isOnIt = status !== 'suspended' && !hasEnded(status)
  return (
    <Fact label={isOnIt ? 'Node' : 'Last node'}>
      <NodeLink hostname={node.hostname} />
      {cluster && !cluster.registry && keepsDisk(devbox) && (
        <p className="text-muted">Its disk stays on this node, because the cluster has no registry.</p>
      )}
    </Fact>
  )
}

const sizeText = (launch: Devbox['launch_parameters']): string => {
  const custom = [
    launch.custom_cpu_cores && `${launch.custom_cpu_cores} cores`,
    launch.custom_gb_memory && `${launch.custom_gb_memory} GB memory`,
    launch.custom_disk_size && `${launch.custom_disk_size} GB disk`,
  ].filter(Boolean)
  if (custom.length > 0) return custom.join(', ')
  return launch.resource_size_request ?? 'Service default'
}

const isolationLabels = new Map([
  ['bubblewrap', 'Bubblewrap: isolated processes, files and users'],
  ['container', 'Container: isolated processes, files and users, with the system of an image'],
  ['swarm', 'Container on a node of the cluster: isolated processes, files and users, with the system of an image'],
  ['none', 'None: processes run directly on the host'],
])

export const Isolation = ({
  isolation: { sandbox, not_enforced },
}: {
  isolation: NonNullable<Devbox['isolation']>
}) => (
  <div className="space-y-2">
    <p>{isolationLabels.get(sandbox) ?? <VisibleText max={60}>{sandbox}</VisibleText>}</p>
    {not_enforced.length > 0 && (
      <>
        <p className="text-muted">Not enforced on its host:</p>
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

const Origin = ({ devbox }: { devbox: Devbox }) => {
  const { initiator_type, initiator_id } = devbox
  const trialId = isOfTrial(devbox) ? (initiator_id ?? '') : ''
  const { data: trial } = useQuery({ ...scenarioRunQueries.get(trialId), enabled: trialId !== '', retry: false })
  if (!initiator_type && !initiator_id) return null
  return (
    <>
      <Fact label="Created by">
        {originLabels[initiator_type ?? ''] ?? <VisibleText max={60}>{initiator_type ?? 'unknown'}</VisibleText>}{' '}
        {initiator_id && <CopyableId value={initiator_id} label="creator ID" />}
      </Fact>
      {trial?.benchmark_run_id && (
        <Fact label="Benchmark run">
          <TextLink href={paths.benchmarkRun(trial.benchmark_run_id)}>
            {trial.name ? <VisibleText max={120}>{trial.name}</VisibleText> : trial.benchmark_run_id}
          </TextLink>
        </Fact>
      )}
      {trial && (
        <Fact label="Scenario">
          <TextLink href={paths.scenario(trial.scenario_id)} className="font-mono text-sm">
            {trial.scenario_id}
          </TextLink>
        </Fact>
      )}
    </>
  )
}

const originLabels: Record<string, string> = {
  api: 'API or console',
  scenario: 'Benchmark trial',
  scoring_validation: 'Scoring validation',
}

/** Hides the tunnel token, since the JSON gets pasted into tickets. */
export const RawDevbox = ({ devbox }: { devbox: Devbox }) => (
  <details>
    <summary className="cursor-pointer text-lg font-medium">Raw JSON</summary>
    <CommandBlock label="JSON" className="mt-3 max-h-[32rem] overflow-auto" command={withoutToken(devbox)} />
  </details>
)

const withoutToken = (devbox: Devbox): string => {
  const { tunnel } = devbox
  const shown = tunnel?.auth_token ? { ...devbox, tunnel: { ...tunnel, auth_token: '(hidden)' } } : devbox
  return JSON.stringify(shown, null, 2)
}

const StateHistory = ({ devbox: { id, state_transitions: transitions } }: { devbox: Devbox }) => {
  if (transitions.length === 0) return <p className="text-muted">No states recorded</p>
  const states = transitions.map(({ status = 'unknown', transition_time_ms, failure_reason }, index) => ({
    status,
    failureReason: failure_reason,
    startMs: transition_time_ms,
    endMs: transitions[index + 1]?.transition_time_ms,
    isLast: index === transitions.length - 1,
    index,
  }))
  return (
    <ol className="space-y-0">
      {states.reverse().map(({ index, status, failureReason, startMs, endMs, isLast }) => (
        <li key={index} className="relative flex gap-3 pb-4 pl-5 last:pb-0">
          <span aria-hidden className="absolute top-1.5 left-0.5 size-2 rounded-full bg-line-strong" />
          {index > 0 && <span aria-hidden className="absolute top-4 bottom-0 left-[5px] w-px bg-line" />}
          <div className="min-w-0 flex-1">
            <DevboxStatusBadge status={status} past={!isLast} />
            <EvictedStep devboxId={id} steps={transitions} index={index} />
            {failureReason && (
              <p className="mt-1 break-words text-danger">
                <VisibleText max={600}>{failureReason}</VisibleText>
              </p>
            )}
          </div>
          <div className="shrink-0 text-right text-muted">
            {startMs !== undefined && <RelativeTime ms={startMs} />}
            {startMs !== undefined && !(isLast && hasEnded(status)) && (
              <p className="tabular text-sm">
                <Duration startMs={startMs} endMs={endMs} />
              </p>
            )}
          </div>
        </li>
      ))}
    </ol>
  )
}

const Duration = ({ startMs, endMs }: { startMs: number; endMs: number | undefined }) => {
  const text = useClock((nowMs) =>
    endMs === undefined ? formatElapsedMs(nowMs - startMs) : formatDurationMs(endMs - startMs),
  )
  return <span suppressHydrationWarning>for {text}</span>
}
