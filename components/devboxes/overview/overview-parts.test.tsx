import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { clusterQueries } from '#components/cluster/queries.ts'
import { snapshotQueries } from '#components/snapshots/queries.ts'
import { Devbox } from '#lib/contract/devboxes.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import { activeFor } from '../usage/devbox-usage.tsx'
import { UsageCharts } from '../usage/usage-charts.tsx'
import { Isolation, RawDevbox } from './devbox-overview.tsx'
import { Ending } from './ending.tsx'

const devboxOf = (part: object): Devbox => readLeniently(Devbox, { id: 'dbx_1', status: 'running', ...part })
const textOf = (markup: string) => markup.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')
const nothing = () => undefined
const minute = 60_000
const endingOf = (part: object) => textOf(renderToStaticMarkup(<Ending devbox={devboxOf(part)} onCopy={nothing} />))

it.each([
  ['container', 'Container: isolated processes, files and users, with the system of an image'],
  ['constructor', 'constructor'],
])('names the isolation %s', (sandbox, label) => {
  const isolation = { sandbox, not_enforced: ['Memory: not limited'] }
  const text = textOf(renderToStaticMarkup(<Isolation isolation={isolation} />))
  expect(text).toContain(label)
  expect(text).toContain('Memory: not limited')
})

it('says what a devbox of a lost node continues from, and what is lost', () => {
  const lost = (registry: string | null, snapshotMs: number | undefined, ...statuses: string[]) => {
    const client = new QueryClient()
    const cluster = { nodes: [], registry, waiting_devboxes: 0, placement: [] }
    client.setQueryData(clusterQueries.known().queryKey, { cluster, operator_refusal: null })
    const query = { devbox_id: 'dbx_1', limit: 1, include_total_count: false }
    const snapshots = snapshotMs === undefined ? [] : [{ create_time_ms: Date.now() - snapshotMs }]
    client.setQueryData(snapshotQueries.list(query).queryKey, {
      pages: [{ snapshots, has_more: false }],
      pageParams: [undefined],
    } as never)
    const state_transitions = statuses.map((status, at) => ({
      status,
      transition_time_ms: Date.now() - (10 - at) * minute,
    }))
    const devbox = {
      status: 'failure',
      failure_reason: 'node_lost',
      node: { id: 'n', hostname: 'node-3' },
      state_transitions,
    }
    return textOf(
      renderToStaticMarkup(
        <QueryClientProvider client={client}>
          <Ending devbox={devboxOf(devbox)} onCopy={nothing} />
        </QueryClientProvider>,
      ),
    )
  }
  const suspended = ['running', 'suspending', 'suspended', 'resuming', 'running', 'failure']
  expect(lost('r:5000', undefined, 'running', 'failure')).toMatch(
    /can&#x27;t continue on another node.*once node-3 is back/,
  )
  expect(lost('r:5000', undefined, ...suspended)).toMatch(
    /disk as of its last suspension, 9 min ago.*Later changes are lost/,
  )
  expect(lost('r:5000', minute, ...suspended)).toMatch(/last snapshot, taken 1 min ago/)
  expect(lost('r:5000', 30 * minute, ...suspended)).toMatch(/last suspension, 9 min ago/)
  expect(lost(null, minute, ...suspended)).toMatch(/no registry.*Resume it once node-3 is back/)
})

it('explains why a devbox ended, even for an unknown reason', () => {
  expect(endingOf({})).toBe('')
  expect(endingOf({ status: 'failure', failure_reason: 'out_of_memory' })).toMatch(/ran out of memory.*larger size/)
  expect(endingOf({ status: 'shutdown', shutdown_reason: 'keep_alive_timeout' })).toMatch(
    /disk is deleted.*longer time/,
  )
  expect(endingOf({ status: 'shutdown', shutdown_reason: 'constructor' })).toMatch(
    /constructor .*Snapshots and the log/,
  )
  expect(endingOf({ status: 'failure' })).toContain('No reason was reported.')
  const state_transitions = [{ status: 'running' }, { status: 'failure' }]
  expect(endingOf({ status: 'failure', failure_reason: 'health_check_failed', state_transitions })).toMatch(
    /processes were killed.*disk is kept.*Resume/,
  )
})

it('shows times under a second as less than 1 s', () => {
  const usage = { id: 'dbx_1', start_time_ms: 1, vcpu_seconds: 0, memory_gb_seconds: 0, disk_gb_seconds: 0 }
  const text = (total_active_seconds: number, total_elapsed_seconds: number) =>
    activeFor({ ...usage, status: 'failure', total_active_seconds, total_elapsed_seconds })
  expect(text(0, 0)).toBe('less than 1 s since creation')
  expect(text(0, 7)).toBe('less than 1 s of 7 s since creation')
  expect(text(61, 62)).toBe('1 min 1 s of 1 min 2 s since creation')
})

it('hides the tunnel token in the raw JSON', () => {
  const tunnel = { tunnel_key: 'k', auth_mode: 'authenticated', create_time_ms: 1, auth_token: 'tok_secret' }
  const markup = renderToStaticMarkup(<RawDevbox devbox={devboxOf({ tunnel })} />)
  expect(markup).toContain('tunnel_key')
  expect(markup).not.toContain('tok_secret')
})

it('charts samples up to the limit and lists them in a table', () => {
  const sample = { cpuCores: 0.5, memoryBytes: 2 ** 20, diskUsedBytes: null, diskFreeBytes: null, processes: 2 }
  const samples = [
    { ...sample, atMs: 0, cpuCores: null },
    { ...sample, atMs: 30_000 },
    { ...sample, atMs: 600_000 },
  ]
  const chart = (limits?: Parameters<typeof UsageCharts>[0]['limits']) =>
    renderToStaticMarkup(<UsageCharts samples={samples} limits={limits} />)
  const markup = chart({ cpuCores: 2, memoryGb: 4, diskGb: 8 })
  expect(markup).toContain('aria-label="CPU from 0 to 2.00 cores: latest 0.50 cores, highest 0.50 cores, 2 samples"')
  // A quarter of the way from y=76 to y=8.
  expect(markup).toMatch(/ d="M[\d.]+ 59\.0M[\d.]+ 59\.0"/)
  // A ten-minute gap breaks the line.
  expect(markup.match(/ d="[^"]*"/g)?.map((path) => path.match(/[ML]/g)?.join(''))).toEqual(['MM', 'MLM'])
  const text = textOf(markup)
  expect(text).toContain('Host disk free')
  expect(text).toContain('0.50 cores of 2.00 cores')
  expect(text).toContain('3 of 3 samples')
  expect(text).toMatch(/Not reported 1\.00 MiB Not reported Not reported 2/)
  expect(text).toContain('Mean 0.50 cores, p95 0.50 cores, highest 0.50 cores (25%)')
  // The scale grows beyond the limit, and without a limit ends at the highest sample.
  expect(chart({ cpuCores: 0.25, memoryGb: 4, diskGb: 8 })).toContain('CPU from 0 to 0.50 cores')
  expect(chart()).toContain('CPU from 0 to 0.50 cores')
})
