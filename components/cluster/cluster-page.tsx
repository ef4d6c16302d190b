'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Server } from 'lucide-react'
import dynamic from 'next/dynamic'
import { type ReactNode, useState } from 'react'
import { devboxesPath } from '#components/devboxes/search-params.ts'
import type { Column } from '#components/list/column.ts'
import { DataTable } from '#components/list/data-table.tsx'
import { StaleNotice } from '#components/list/stale-notice.tsx'
import { useSupport } from '#components/settings/support-queries.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { classes } from '#components/ui/classes.ts'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { toast } from '#components/ui/toast.tsx'
import { useShownError } from '#components/ui/use-shown-error.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { isTransient } from '#lib/browser/api/failures.ts'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import type { Cluster, ClusterNode } from '#lib/contract/cluster.ts'
import type { ClusterView } from '#lib/protocol/cluster.ts'
import { amountOf, Capacity } from './capacity.tsx'
import { isUsable, NodeStateBadge } from './node-state.tsx'
import { clusterMutations, clusterQueries } from './queries.ts'

const DrainDialog = dynamic(async () => (await import('./drain-dialog.tsx')).DrainDialog)

/** `linkedNode`: the id or hostname in the page's address. */
export const ClusterPage = ({ linkedNode }: { linkedNode?: string | undefined }) => {
  const query = useQuery(clusterQueries.view())
  const error = useShownError(query)
  const { data } = query
  return (
    <>
      <PageHeader title="Cluster" />
      <StaleNotice query={query} />
      {!data && error && (
        <ErrorState title="Couldn't load the cluster" error={error} recovers={isTransient(error)} query={query} />
      )}
      {!data && !error && <SkeletonRows columns={5} label="Loading the cluster" />}
      {data && <ClusterState view={data} linkedNode={linkedNode} />}
    </>
  )
}

interface ClusterStateProps {
  view: ClusterView
  linkedNode?: string | undefined
}

export const ClusterState = ({ view: { cluster, operator_refusal }, linkedNode }: ClusterStateProps) => {
  const [drainingId, setDrainingId] = useState<string>()
  const support = useSupport('cluster.get')
  const activate = useMutation({
    ...clusterMutations.activate(),
    onError: toast.failed("Couldn't activate the node"),
  })
  if (!cluster)
    return (
      <EmptyState icon={Server} title="This service has no cluster">
        {support === 'no'
          ? "It doesn't report which machines its devboxes run on."
          : 'Its devboxes run on one machine. To run them on several, start the service with --engine swarm.'}
      </EmptyState>
    )
  const { nodes } = cluster
  // A readable name for the activity log; hostnames may repeat.
  const nameOf = ({ id, hostname }: ClusterNode) =>
    nodes.some((other) => other.id !== id && other.hostname === hostname) ? id : hostname
  const draining = nodes.find(({ id }) => id === drainingId)
  const isStale = cluster.problem != null
  const refusal = operator_refusal ?? (isStale ? "The swarm's manager is unreachable" : null)
  return (
    <>
      <div className="mb-4 space-y-2 empty:hidden">
        <ManagerProblem cluster={cluster} />
        <Waiting count={cluster.waiting_devboxes} />
        <NodeProblems nodes={nodes} />
      </div>
      <div className={classes('space-y-4', isStale && 'text-muted grayscale')}>
        <Summary cluster={cluster} />
        {nodes.length === 0 ? (
          <EmptyState icon={Server} title="No nodes reported">
            The swarm's manager has not reported its nodes yet.
          </EmptyState>
        ) : (
          <DataTable
            caption="Nodes, by hostname"
            columns={columnsFor(
              nodes.some(({ labels }) => Object.keys(labels).length > 0),
              (node) =>
                node.availability !== 'active' || node.drain_status != null ? (
                  <Button
                    size="sm"
                    aria-label={`Activate ${node.hostname}`}
                    needs="/api/cluster"
                    disabledReason={refusal}
                    busy={activate.isPending && activate.variables.id === nameOf(node)}
                    onClick={() => activate.mutate({ id: nameOf(node) })}
                  >
                    Activate
                  </Button>
                ) : (
                  <Button
                    size="sm"
                    aria-label={`Drain ${node.hostname}`}
                    needs="/api/cluster"
                    disabledReason={refusal}
                    onClick={() => setDrainingId(node.id)}
                  >
                    Drain
                  </Button>
                ),
            )}
            rows={nodes}
            rowKey={({ id }) => id}
            rowHref={(node) => devboxesPath({ node: nameOf(node), trials: 'shown' })}
            selectedKey={nodes.find(({ id, hostname }) => id === linkedNode || hostname === linkedNode)?.id}
          />
        )}
      </div>
      {draining && (
        <DrainDialog cluster={cluster} node={draining} id={nameOf(draining)} onClose={() => setDrainingId(undefined)} />
      )}
    </>
  )
}

const ManagerProblem = ({ cluster: { problem, problem_since_ms } }: { cluster: Cluster }) =>
  problem != null && (
    <Banner
      tone="danger"
      role="status"
      title={
        problem_since_ms == null ? (
          "The swarm's manager is unreachable"
        ) : (
          <>
            The swarm's manager became unreachable <RelativeTime ms={problem_since_ms} />
          </>
        )
      }
    >
      <VisibleText max={300}>{problem}</VisibleText>. Running devboxes continue; none can be created or resumed until it
      responds. The nodes below may be out of date.
    </Banner>
  )

const Waiting = ({ count }: { count: number }) =>
  count > 0 && (
    <Banner
      tone="attention"
      role="status"
      title={`${formatCountOf(count, 'devbox is', 'devboxes are')} waiting for a node`}
    >
      No node that accepts devboxes and matches their placement has enough unreserved CPU and memory. They start once
      one does.
    </Banner>
  )

const maxProblems = 3

const NodeProblems = ({ nodes }: { nodes: readonly ClusterNode[] }) => {
  const affected = nodes.filter(({ state, problem }) => state !== 'ready' || problem != null)
  if (affected.length === 0) return null
  const isLost = affected.some(({ state }) => state !== 'ready')
  return (
    <Banner
      tone={isLost ? 'danger' : 'attention'}
      role="status"
      title={`${affected.length} of ${formatCountOf(nodes.length, 'node')} ${affected.length === 1 ? 'has' : 'have'} a problem`}
    >
      <ul>
        {affected.slice(0, maxProblems).map((node) => (
          <li key={node.id} className="break-words">
            <VisibleText max={60} className="font-medium text-text">
              {node.hostname}
            </VisibleText>
            {node.state === 'ready' ? ': ' : ` is ${node.state}. `}
            <VisibleText max={300}>{node.problem ?? ''}</VisibleText>
            {node.state === 'down' && (
              <>
                {' '}
                <TextLink
                  href={devboxesPath({ node: node.hostname, status: 'failure', trials: 'shown' })}
                  prefetch={false}
                  className="underline"
                >
                  Devboxes lost with it
                </TextLink>
              </>
            )}
          </li>
        ))}
        {affected.length > maxProblems && <li>and {formatCountOf(affected.length - maxProblems, 'more node')}</li>}
      </ul>
    </Banner>
  )
}

const Summary = ({ cluster: { nodes, registry, placement } }: { cluster: Cluster }) => {
  const usable = nodes.filter(isUsable)
  const sum = (field: 'devboxes' | 'cpu_cores' | 'memory_bytes' | 'reserved_cpu_cores' | 'reserved_memory_bytes') =>
    usable.reduce((total, node) => total + node[field], 0)
  const devboxes = nodes.reduce((total, node) => total + node.devboxes, 0)
  return (
    <Facts>
      <Fact label="Nodes" className="tabular">
        {usable.length} of {formatCountOf(nodes.length, 'node')} {usable.length === 1 ? 'accepts' : 'accept'} new
        devboxes
      </Fact>
      <Fact label="Devboxes" className="tabular">
        {formatCount(devboxes)}
        <span className="text-muted"> of all accounts, including benchmark trials</span>
      </Fact>
      <Fact label="Reserved" className="tabular">
        {amountOf(sum('reserved_cpu_cores'), sum('cpu_cores'), 'cores')},{' '}
        {amountOf(sum('reserved_memory_bytes'), sum('memory_bytes'), 'bytes')} of memory
        {usable.length < nodes.length && <span className="text-muted"> on nodes that accept devboxes</span>}
      </Fact>
      <Fact label="Registry" className="break-words">
        {registry ? (
          <VisibleText max={200} mono>
            {registry}
          </VisibleText>
        ) : (
          "None. A devbox's disk stays on its node, so the devbox can only be resumed there"
        )}
      </Fact>
      {placement.length > 0 && (
        <Fact label="Placement" className="break-words font-mono text-sm">
          <VisibleText max={500}>{placement.join(', ')}</VisibleText>
        </Fact>
      )}
    </Facts>
  )
}

const labelsColumn: Column<ClusterNode> = {
  id: 'labels',
  header: 'Labels',
  cell: ({ row }) => <MetadataChips metadata={row.original.labels} max={2} />,
  meta: { priority: 6, width: '9rem' },
}

const columnsFor = (hasLabels: boolean, action: (node: ClusterNode) => ReactNode): Column<ClusterNode>[] => [
  {
    id: 'node',
    header: 'Node',
    cell: ({ row: { original: node } }) => (
      <span className="flex min-w-0 flex-col leading-tight">
        <VisibleText max={120} truncate>
          {node.hostname || node.id}
        </VisibleText>
        <span className="truncate text-sm font-normal text-muted">
          <VisibleText max={40}>{roleWords[node.role] ?? node.role}</VisibleText>
          {node.address && (
            <>
              , <VisibleText max={60}>{node.address}</VisibleText>
            </>
          )}
        </span>
      </span>
    ),
    meta: { priority: 1, lines: () => 2 },
  },
  {
    id: 'state',
    header: 'State',
    cell: ({ row }) => <NodeStateBadge node={row.original} />,
    meta: { priority: 2, width: '10.5rem' },
  },
  {
    id: 'devboxes',
    header: 'Devboxes',
    cell: ({ row }) => formatCount(row.original.devboxes),
    meta: { priority: 3, width: '5.5rem', align: 'right' },
  },
  {
    id: 'cpu',
    header: 'CPU reserved',
    cell: ({ row: { original: node } }) => (
      <Capacity reserved={node.reserved_cpu_cores} used={node.used_cpu_cores} total={node.cpu_cores} unit="cores" />
    ),
    meta: { priority: 4, width: '12.5rem' },
  },
  {
    id: 'memory',
    header: 'Memory reserved',
    cell: ({ row: { original: node } }) => (
      <Capacity
        reserved={node.reserved_memory_bytes}
        used={node.used_memory_bytes}
        total={node.memory_bytes}
        unit="bytes"
      />
    ),
    meta: { priority: 5, width: '14rem' },
  },
  ...(hasLabels ? [labelsColumn] : []),
  {
    id: 'action',
    header: 'Action',
    cell: ({ row }) => action(row.original),
    meta: { priority: 3, width: '6rem', align: 'right' },
  },
]

const roleWords: Record<string, string> = { manager: 'Manager', worker: 'Worker' }
