import { expect, it } from 'vitest'
import { recapOf } from './alert-recap.ts'
import type { Alert, AlertEntry } from './alerts.ts'
import { type ShiftReport, shiftReportOf } from './shift-report.ts'
import { shiftReportMarkdown } from './shift-report-markdown.ts'
import { alertOf } from './testing.ts'

const minute = 60_000
/** 22:00 on 26 November 2026. */
const start = Date.UTC(2026, 10, 26, 22)
const at = (minutes: number) => start + minutes * minute
const entry = (minutes: number, what: AlertEntry['what'], by: string | null, more: Partial<AlertEntry> = {}) => ({
  at_ms: at(minutes),
  what,
  by,
  ...more,
})

/** Raised at minute `raised`, due at `due`, acknowledged after `response` minutes, if ever. */
const alert = (
  name: string,
  { raised, due, response, ...rest }: { raised: number; due: number; response?: number } & Partial<Alert>,
) =>
  alertOf({
    id: `${name}@${due}`,
    devbox_id: `dbx_${name}`,
    devbox_name: name,
    first_heard_ms: at(raised),
    raised_ms: at(raised),
    deadline_ms: at(due),
    ...(response !== undefined && { acknowledged_by: 'Ada', acknowledged_ms: at(raised + response) }),
    ...rest,
  })
const evicted = (name: string, times: Parameters<typeof alert>[1]) =>
  alert(name, { state: 'ended', closed_ms: at(times.due), ...times })

const night = [
  evicted('api', {
    raised: 10,
    due: 40,
    response: 2,
    work: { commands: 3 },
    acknowledged_by: 'Bob',
    // The last acknowledgment is not the response.
    acknowledged_ms: at(39),
    log: [
      entry(10, 'raised', null),
      entry(11, 'acknowledged', 'Ada'),
      entry(11, 'unacknowledged', 'Ada'),
      entry(12, 'acknowledged', 'Ada'),
      entry(20, 'handed_over', 'Ada', { to: 'Bob' }),
      entry(21, 'commented', 'Bob', { text: 'snapshot | taken\nsee <#1>' }),
      entry(39, 'acknowledged', 'Bob'),
    ],
  }),
  evicted('idle', { raised: 10, due: 40, response: 4, work: { commands: 0 } }),
  evicted('missed', { raised: 50, due: 80, work: { commands: 1 } }),
  evicted('unknown', { raised: 50, due: 80, response: 9 }),
  // Acknowledged with its earlier deadline, before it was raised.
  evicted('moved-later', { raised: 60, due: 90, response: -30, alarms: 0, work: { commands: 0 } }),
  alert('rescued', {
    raised: 100,
    due: 5_000,
    state: 'stopped',
    closed_ms: at(110),
    stopped: { how: 'suspended', by: 'Ada' },
  }),
  alert('scratch', { kind: 'end', raised: 120, due: 130, state: 'ended', closed_ms: at(131) }),
  alert('kept', { kind: 'end', raised: 120, due: 130, state: 'moved', closed_ms: at(125) }),
  alert('crashed', {
    kind: 'failure',
    raised: 140,
    due: 139,
    response: 1,
    state: 'seen',
    closed_ms: at(141),
    log: [entry(140, 'silenced', 'Cy', { text: 'load test' }), entry(141, 'acknowledged', 'Ada')],
  }),
  alert('', {
    kind: 'watch',
    devbox_id: '',
    raised: -9,
    due: -10,
    state: 'resolved',
    closed_ms: at(5),
    watch: { cause: 'refused', detail: 'The service refuses the API key', account: 'ops' },
  }),
  alert('tomorrow', { raised: 200, due: 2_000 }),
  evicted('drill', { raised: 1, due: 30, response: 1, is_drill: true, work: { commands: 2 } }),
  alert('test', { kind: 'test', raised: 1, due: 2, state: 'passed', closed_ms: at(2) }),
  // The next shift.
  evicted('later', { raised: 800, due: 830, work: { commands: 1 } }),
]

const report = shiftReportOf(night, { from_ms: start, to_ms: at(720), now_ms: at(900) })
const names = (alerts: readonly Alert[]) => alerts.map(({ devbox_name }) => devbox_name)

it('counts the alerts of a shift with their denominators, without drills and tests', () => {
  expect(report.kinds).toEqual([
    { kind: 'eviction', count: 7, states: { ended: 5, stopped: 1, new: 1 } },
    { kind: 'end', count: 2, states: { moved: 1, ended: 1 } },
    { kind: 'failure', count: 1, states: { seen: 1 } },
    { kind: 'watch', count: 1, states: { resolved: 1 } },
  ])
  expect(names(report.open.items)).toEqual(['tomorrow'])
  expect({ ...report.interrupted, items: names(report.interrupted.items) }).toEqual({
    count: 2,
    of: 5,
    commands: 4,
    unknown: 1,
    items: ['api', 'missed'],
  })
  expect(names(report.unattended.items)).toEqual(['missed', 'scratch'])
  expect(report.deleted).toMatchObject({ count: 1, of: 1 })
  expect(names(report.failed.items)).toEqual(['crashed'])
  // Since the start of the shift, not since the start of the outage.
  expect(report.outages).toMatchObject({ count: 1, total_ms: 5 * minute })
  expect(report.silences).toEqual([{ by: 'Cy', comment: 'load test', alerts: 1 }])
  expect(report.practice).toEqual({ drills: 1, tests: 1, response: { n: 1, median_ms: minute } })
})

it("measures from the first alarm to the first acknowledgment that wasn't undone", () => {
  // Of the nine raised in the shift, four were acknowledged, after 2, 4, 9 and 1 min; quantiles interpolate.
  expect(report.response).toMatchObject({
    raised: 9,
    acknowledged: 4,
    median_ms: 3 * minute,
    p90_ms: 7.5 * minute,
    longest: { ms: 9 * minute, alert: { devbox_name: 'unknown' } },
  })
})

it('says who did what', () => {
  expect(report.people.items).toMatchObject([
    { name: 'Ada', acknowledged: { count: 4 }, handed_over: 1, received: 0, commented: 0, stopped: 1 },
    { name: 'Bob', acknowledged: { count: 1 }, handed_over: 0, received: 1, commented: 1, stopped: 0 },
  ])
})

it("is the same in Markdown, with names that can't break it", () => {
  const failure = { since_ms: at(3), answer: 'HTTP 500' }
  const receivers: ShiftReport['receivers'] = [
    { id: 'r', name: 'Chat', format: 'slack', host: 'chat.example', delivered: 9, failed: 1, waiting: 2, failure },
    { id: 'h', name: 'Monitor', format: 'heartbeat', host: 'hc', delivered: 0, failed: 0, waiting: 0, failure: null },
  ]
  const text = shiftReportMarkdown({ ...report, complete_from_ms: at(1), receivers })
  for (const line of [
    '# Shift report, 2026-11-26 22:00 UTC to 2026-11-27 10:00 UTC',
    '**Incomplete:** alerts before 2026-11-26 22:01 UTC have been removed from the history.',
    '| Eviction | 7 | 5 evicted, 1 stopped early, 1 new |',
    '- tomorrow, due 2026-11-28 07:20 UTC',
    'Acknowledged: 4 of 9 raised. Median 3 min, 90th percentile 7 min 30 s, longest 9 min (unknown).',
    '- Ada: acknowledged 4 (api, idle, unknown, 1 more), handed over 1, stopped 1 devbox early',
    '- 2026-11-26 22:20 UTC api: Ada to Bob',
    '- 2026-11-26 22:21 UTC Bob on api: snapshot \\| taken see ‹\\#1›',
    'Evicted with running work: 2 of 5 (4 commands; unknown for 1).',
    '- 2026-11-26 22:40 UTC api, 3 commands',
    'Disks deleted: 1 of 1 scheduled shutdown.',
    'Outages of the eviction watch: 1, 5 min in the period.',
    '- Silence by Cy (load test): 1 alert',
    '- Receiver Chat (chat.example): 9 delivered, 1 failed, 2 messages waiting now, failing since 2026-11-26 22:03 UTC (HTTP 500)',
    '- Receiver Monitor (hc): heartbeat',
    '1 drill, 1 test alert. Drills acknowledged: 1, median 1 min.',
  ])
    expect(text.split('\n')).toContain(line)
})

it('reports a quiet shift', () => {
  const quiet = shiftReportOf([], { from_ms: start, to_ms: at(720), now_ms: at(720) })
  expect(quiet.response).toEqual({ raised: 0, acknowledged: 0, median_ms: null, p90_ms: null, longest: null })
  expect(shiftReportMarkdown({ ...quiet, complete_from_ms: null, receivers: [] })).not.toMatch(/null|undefined|NaN/)
})

it('recaps what was missed, newest first', () => {
  const closed = night.filter(({ closed_ms }) => closed_ms !== null)
  const { parts, others } = recapOf(closed, start)
  expect(Object.entries(parts).map(([part, { count, alerts }]) => [part, count, names(alerts)])).toEqual([
    ['unattended', 2, ['later', 'missed']],
    ['attended', 4, ['moved-later', 'unknown', 'api']],
    ['lost', 2, ['crashed', 'scratch']],
    ['outages', 1, ['']],
    ['practice', 2, ['drill', 'test']],
  ])
  expect(others).toBe(2)
})
