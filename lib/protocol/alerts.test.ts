import { describe, expect, it } from 'vitest'
import {
  type Alert,
  alertsText,
  alertText,
  groupAlerts,
  groupKeyOf,
  lastCallMs,
  nameInText,
  severityOf,
} from './alerts.ts'
import { alertOf } from './testing.ts'

const alert = alertOf({ devbox_name: 'worker', deadline_ms: 1_700_000_000_000, first_heard_ms: 1, raised_ms: 1 })

describe('the text of an alert for a chat', () => {
  const textOf = (devbox_name: string | null) => alertText({ ...alert, devbox_name }, 'https://deck.example/a')

  it('names the devbox, or its id where it has no name', () => {
    expect(textOf('worker')).toBe(
      'Devbox worker (dbx_1) will be evicted at 2023-11-14T22:13:20Z. It will be suspended: processes end, the disk stays. https://deck.example/a',
    )
    for (const none of [null, '', ' \u202e ']) expect(textOf(none)).toMatch(/^Devbox dbx_1 will be evicted/)
  })

  it('contains no mentions, links or line breaks, whatever the name', () => {
    expect(textOf('<!channel> <https://evil.example|ours>\n\u202Eabc')).toMatch(
      /^Devbox ‹!channel› ‹https:\/\/evil\.example\|ours› abc \(dbx_1\) will be evicted/,
    )
  })
})

it('names the start and cause of an outage, and its end', () => {
  const watch = { cause: 'refused', detail: 'The service refuses this key', account: 'Ops\nTeam' } as const
  const textOf = (state: 'new' | 'resolved') =>
    alertText({ ...alert, kind: 'watch', watch, state }, 'https://deck.example/a')
  expect(textOf('new')).toBe(
    'Devdeck may miss evictions of Ops Team since 2023-11-14T22:13:20Z. The service refuses this key. https://deck.example/a',
  )
  expect(textOf('resolved')).toMatch(
    /^Devdeck sees the evictions of Ops Team again, after an outage since 2023-11-14T22:13:20Z/,
  )
})

describe('groups', () => {
  const linked = (id: string, change: Partial<Alert>) => ({
    alert: { ...alert, id, devbox_id: id, node: 'node-2', ...change },
    url: `https://deck.example/${id}`,
  })
  const secondLater = alert.deadline_ms + 1000

  it('are the evictions of one node or deadline and the devboxes lost with one node', () => {
    const { node: _, ...anywhere } = linked('dbx_9', {}).alert
    const alerts = [
      linked('dbx_1', {}).alert,
      linked('dbx_2', { deadline_ms: alert.deadline_ms + 999, state: 'acknowledged' }).alert,
      linked('dbx_3', { deadline_ms: secondLater }).alert,
      linked('dbx_4', { is_drill: true }).alert,
      linked('dbx_5', { kind: 'failure' }).alert,
      linked('dbx_6', { kind: 'failure', deadline_ms: secondLater }).alert,
      linked('dbx_7', { kind: 'end' }).alert,
      linked('dbx_8', { kind: 'end' }).alert,
      anywhere,
      { ...anywhere, id: 'dbx_10' },
    ]
    expect(groupAlerts(alerts).map(({ alerts }) => alerts.map(({ id }) => id))).toEqual([
      ['dbx_1', 'dbx_2'],
      ['dbx_3'],
      ['dbx_4'],
      ['dbx_5', 'dbx_6'],
      ['dbx_7'],
      ['dbx_8'],
      ['dbx_9', 'dbx_10'],
    ])
    // Receivers may hold an incident for months.
    expect(groupKeyOf(linked('dbx_1', {}).alert)).toBe('eviction node-2@1700000000')
  })

  it('are one line of a chat message per outcome', () => {
    const text = alertsText([
      linked('dbx_1', {}),
      linked('dbx_2', {}),
      linked('dbx_3', { deadline_ms: secondLater }),
      linked('dbx_4', { kind: 'failure', node: 'node-3', devbox_name: 'db' }),
      linked('dbx_5', { kind: 'failure', node: 'node-3', deadline_ms: secondLater }),
    ])
    expect(text.split('\n')).toEqual([
      '5 alerts:',
      '2 devboxes on node-2 will be evicted at 2023-11-14T22:13:20Z. They will be suspended: processes end, disks stay. https://deck.example/dbx_1',
      expect.stringMatching(/^Devbox worker \(dbx_3\) on node-2 will be evicted at 2023-11-14T22:13:21Z/),
      '2 devboxes on node-3 failed at 2023-11-14T22:13:20Z: the node was lost. https://deck.example/dbx_4',
    ])
    const stopped = { state: 'stopped', stopped: { how: 'suspended', by: 'ada' } } as const
    const outcomes = [
      ...Array.from({ length: 70 }, (_, index) => linked(`a${index}`, { state: 'ended' })),
      linked('b1', stopped),
      linked('b2', stopped),
      linked('c', { state: 'passed' }),
    ]
    expect(alertsText(outcomes).split('\n')).toEqual([
      '73 alerts:',
      '70 devboxes on node-2 were evicted at 2023-11-14T22:13:20Z. https://deck.example/a0',
      '2 devboxes on node-2 were suspended by ada before their eviction at 2023-11-14T22:13:20Z. https://deck.example/b1',
      'Devbox worker (c) on node-2 is still running after its eviction deadline 2023-11-14T22:13:20Z. https://deck.example/c',
    ])
  })
})

it('cuts a long name between two characters, and leaves names of every script as they are', () => {
  expect([...nameInText('🦊'.repeat(500))]).toEqual([...'🦊'.repeat(99), '…'])
  for (const name of ['שלום עולם', 'naïve ☕', '👩‍💻']) expect(nameInText(name)).toBe(name)
})

it('rates an eviction as critical from its last call on', () => {
  const lastCall = alert.deadline_ms - lastCallMs
  expect(severityOf({ ...alert, raised_ms: lastCall - 1 })).toBe('warning')
  expect(severityOf({ ...alert, raised_ms: lastCall })).toBe('critical')
  const kinds = ['end', 'failure', 'job', 'test'] as const
  expect(kinds.map((kind) => severityOf({ ...alert, kind }))).toEqual(['critical', 'critical', 'info', 'info'])
})
