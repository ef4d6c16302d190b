// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { cleanup, render, screen, within } from '@testing-library/react'
import { afterEach, expect, it } from 'vitest'
import type { Cluster, ClusterNode } from '#lib/contract/cluster.ts'
import { ClusterState } from './cluster-page.tsx'
import { consequence } from './drain-dialog.tsx'

afterEach(cleanup)

const gib = 2 ** 30

const nodeOf = (change: Partial<ClusterNode> = {}): ClusterNode => ({
  id: change.hostname ?? 'node-1',
  hostname: 'node-1',
  address: '10.0.0.1',
  role: 'worker',
  state: 'ready',
  availability: 'active',
  labels: {},
  cpu_cores: 16,
  memory_bytes: 64 * gib,
  reserved_cpu_cores: 12.5,
  reserved_memory_bytes: 20 * gib,
  used_cpu_cores: 3.25,
  used_memory_bytes: 0.5 * gib,
  devboxes: 12,
  ...change,
})

const clusterOf = (change: Partial<Cluster> = {}): Cluster => ({
  nodes: [nodeOf()],
  registry: '10.0.0.1:5000',
  waiting_devboxes: 0,
  placement: [],
  ...change,
})

const show = (cluster: Cluster | null, operator_refusal: string | null = null) =>
  render(
    <QueryClientProvider client={new QueryClient()}>
      <ClusterState view={{ cluster, operator_refusal }} />
    </QueryClientProvider>,
  )

const rowOf = (hostname: string) => screen.getByRole('row', { name: new RegExp(hostname) })

it('shows the state, capacity and devboxes of each node, and offers what fits its state', () => {
  const nodes = [
    nodeOf(),
    nodeOf({ hostname: 'node-2', drain_status: 'waiting', drain_deadline_ms: Date.now() + 3_600_000 }),
    nodeOf({ hostname: 'node-3', availability: 'drain', drain_status: 'drained', devboxes: 0 }),
    nodeOf({ hostname: 'node-4', state: 'down', problem: 'The engine is unreachable.' }),
    nodeOf({ hostname: 'node-5', state: 'half-open' }),
  ]
  show(clusterOf({ nodes }))
  const texts = nodes.map(({ hostname }) => rowOf(hostname).textContent)
  expect(texts[0]).toMatch(/Ready.*12.*12\.5 of 16 cores.*3\.25 used.*20\.0 of 64\.0 GiB.*512 MiB used.*Drain/)
  expect(texts[1]).toMatch(/Drains in (59:\d\d|1:00:00).*Activate/)
  expect(texts[2]).toMatch(/Drained.*Activate/)
  expect(texts[3]).toContain('Down')
  expect(texts[4]).toContain('half-open')
  const problems = screen.getByText('2 of 5 nodes have a problem').parentElement
  expect(problems?.textContent).toMatch(
    /node-4 is down\. The engine is unreachable\..*Devboxes lost with it.*node-5 is half-open/,
  )
  const lost = within(problems as HTMLElement).getByRole('link')
  expect(lost.getAttribute('href')).toBe('/devboxes?node=node-4&status=failure&trials=shown')
  expect(screen.getByText(/1 of 5 nodes accepts new devboxes/)).toBeTruthy()
})

it("says why nodes can't be drained", () => {
  show(clusterOf(), "Only the service's own account can drain nodes")
  expect(screen.getByRole('button', { name: /Drain/ }).getAttribute('aria-disabled')).toBe('true')
  cleanup()
  show(clusterOf({ problem: 'connect ECONNREFUSED 10.0.0.1:2376', problem_since_ms: Date.now() - 180_000 }))
  expect(screen.getByText(/^The swarm's manager became unreachable/).textContent).toMatch(/3 min ago$/)
  expect(screen.getByRole('button', { name: /Drain/ }).getAttribute('aria-disabled')).toBe('true')
})

it('shows a cluster without a registry, without nodes, and no cluster', () => {
  show(clusterOf({ registry: null, nodes: [], waiting_devboxes: 2 }))
  expect(screen.getByText(/None\. A devbox's disk stays on its node/)).toBeTruthy()
  expect(screen.getByText('No nodes reported')).toBeTruthy()
  expect(screen.getByText('2 devboxes are waiting for a node')).toBeTruthy()
  cleanup()
  show(null)
  expect(screen.getByText('This service has no cluster')).toBeTruthy()
})

it('names what a drain does, in numbers', () => {
  expect(consequence(nodeOf(), { registry: 'r:5000' })).toMatch(
    /^12 devboxes get.*They can be resumed on another node\.$/,
  )
  expect(consequence(nodeOf({ devboxes: 1 }), { registry: null })).toMatch(
    /^1 devbox gets.*its disk stays on node-1: it can't be resumed until it is active again\.$/,
  )
  expect(consequence(nodeOf({ devboxes: 0 }), { registry: null })).toBe('It has no devboxes.')
})
