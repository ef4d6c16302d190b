import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { Devbox } from '#lib/contract/devboxes.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import { UsageCharts } from '../log/usage-charts.tsx'
import { Ending } from './ending.tsx'
import { RawDevbox } from './raw-devbox.tsx'
import { activeFor } from './usage.tsx'

const devboxOf = (part: object): Devbox => readLeniently(Devbox, { id: 'dbx_1', status: 'running', ...part })
const wordsOf = (markup: string) => markup.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')
const nothing = () => undefined
const endingOf = (part: object) => wordsOf(renderToStaticMarkup(<Ending devbox={devboxOf(part)} onCopy={nothing} />))

it('says why a devbox ended and what to do next, also for a reason it does not know', () => {
  expect(endingOf({})).toBe('')
  expect(endingOf({ status: 'failure', failure_reason: 'out_of_memory' })).toMatch(/ran out of memory.*larger size/)
  expect(endingOf({ status: 'shutdown', shutdown_reason: 'keep_alive_timeout' })).toMatch(
    /disk is deleted.*longer time/,
  )
  expect(endingOf({ status: 'shutdown', shutdown_reason: 'constructor' })).toMatch(
    /constructor .*snapshots and its log/,
  )
  expect(endingOf({ status: 'failure' })).toContain('The service gave no reason.')
  const state_transitions = [{ status: 'running' }, { status: 'failure' }]
  expect(endingOf({ status: 'failure', failure_reason: 'health_check_failed', state_transitions })).toMatch(
    /processes were killed.*disk is kept.*Resume/,
  )
})

it('tells no time to the millisecond of what is counted in whole seconds', () => {
  const usage = { id: 'dbx_1', start_time_ms: 1, vcpu_seconds: 0, memory_gb_seconds: 0, disk_gb_seconds: 0 }
  const told = (total_active_seconds: number, total_elapsed_seconds: number) =>
    activeFor({ ...usage, status: 'failure', total_active_seconds, total_elapsed_seconds })
  expect(told(0, 0)).toBe('less than 1 s since it was created')
  expect(told(0, 7)).toBe('less than 1 s of 7 s since it was created')
  expect(told(61, 62)).toBe('1 min 1 s of 1 min 2 s since it was created')
})

it('shows the answer of the service without the token that opens its tunnel', () => {
  const tunnel = { tunnel_key: 'k', auth_mode: 'authenticated', create_time_ms: 1, auth_token: 'tok_secret' }
  const markup = renderToStaticMarkup(<RawDevbox devbox={devboxOf({ tunnel })} />)
  expect(markup).toContain('tunnel_key')
  expect(markup).not.toContain('tok_secret')
})

it('draws samples from zero to the limit of the devbox, and lists the same numbers in a table', () => {
  const sample = { cpuCores: 0.5, memoryBytes: 2 ** 20, diskFreeBytes: null, processes: 2 }
  const samples = [
    { ...sample, atMs: 0, cpuCores: null },
    { ...sample, atMs: 30_000 },
    { ...sample, atMs: 600_000 },
  ]
  const chart = (limits?: Parameters<typeof UsageCharts>[0]['limits']) =>
    renderToStaticMarkup(<UsageCharts samples={samples} limits={limits} />)
  const markup = chart({ cpuCores: 2, memoryGb: 4, diskGb: 8 })
  expect(markup).toContain('aria-label="CPU from 0 to 2.00 cores: latest 0.50 cores, highest 0.50 cores, 2 samples"')
  // A quarter of the height, which is from 74 to 6.
  expect(markup).toMatch(/ d="M[\d.]+ 57\.0M[\d.]+ 57\.0"/)
  // A gap of ten minutes is not joined.
  expect(markup.match(/ d="[^"]*"/g)?.map((path) => path.match(/[ML]/g)?.join(''))).toEqual(['MM', 'MLM'])
  const words = wordsOf(markup)
  expect(words).toContain('Host disk free')
  expect(words).toContain('0.50 cores of 2.00 cores')
  expect(words).toContain('3 of 3 samples')
  expect(words).toMatch(/Not reported 1\.00 MiB Not reported 2/)
  // What goes beyond the limit is drawn, and without a limit the highest sample is the top.
  expect(chart({ cpuCores: 0.25, memoryGb: 4, diskGb: 8 })).toContain('CPU from 0 to 0.50 cores')
  expect(chart()).toContain('CPU from 0 to 0.50 cores')
})
