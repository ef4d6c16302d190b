import { alertKindLabels, alertStateLabel } from './alert-labels.ts'
import { occurredMs } from './alert-outcomes.ts'
import { type Alert, nameInText } from './alerts.ts'
import type { Listed, PersonReport, ReceiverReport, ShiftReport } from './shift-report.ts'

/** The report as text for a chat, ticket or wiki. Times are in UTC. */
export const shiftReportMarkdown = (report: ShiftReport): string => {
  const { from_ms, to_ms, complete_from_ms, kinds, open, response, unattended, people } = report
  const { interrupted, deleted, failed, outages, silences, receivers, practice, hand_overs, comments } = report
  const { longest } = response
  return [
    `# Shift report, ${timeText(from_ms)} to ${timeText(to_ms)}`,
    ...(complete_from_ms === null
      ? []
      : [`**Incomplete:** alerts before ${timeText(complete_from_ms)} have been removed from the history.`]),
    '## Alerts',
    ...(kinds.length === 0
      ? ['None.']
      : [
          [
            '| Kind | Count | Outcome |',
            '| --- | ---: | --- |',
            ...kinds.map(({ kind, count, states }) => {
              const outcomes = (Object.entries(states) as [Alert['state'], number][]).map(
                ([state, n]) => `${n} ${alertStateLabel({ kind, state }).toLowerCase()}`,
              )
              return `| ${alertKindLabels[kind]} | ${count} | ${outcomes.join(', ')} |`
            }),
          ].join('\n'),
        ]),
    list(open, `Open at the end: ${open.count}`, (alert) => `${alertText(alert)}, due ${timeText(alert.deadline_ms)}`),
    '## Response',
    `Acknowledged: ${response.acknowledged} of ${response.raised} raised. ${
      longest === null || response.median_ms === null || response.p90_ms === null
        ? ''
        : `Median ${durationText(response.median_ms)}, 90th percentile ${durationText(response.p90_ms)}, longest ${durationText(longest.ms)} (${alertText(longest.alert)}).`
    }`.trim(),
    list(unattended, `Ended unacknowledged: ${unattended.count}`, alertLine),
    ...(people.count === 0 ? [] : [list(people, `People: ${people.count}`, personText)]),
    ...(hand_overs.count === 0
      ? []
      : [
          list(
            hand_overs,
            `Handed over: ${hand_overs.count}`,
            ({ alert, entry }) =>
              `${timeText(entry.at_ms)} ${alertText(alert)}: ${nameText(entry.by)} to ${nameText(entry.to)}`,
          ),
        ]),
    ...(comments.count === 0
      ? []
      : [
          list(
            comments,
            `Comments: ${comments.count}`,
            ({ alert, entry }) =>
              `${timeText(entry.at_ms)} ${nameText(entry.by)} on ${alertText(alert)}: ${plainText(entry.text)}`,
          ),
        ]),
    '## Losses',
    list(
      interrupted,
      `Evicted with running work: ${interrupted.count} of ${interrupted.of} (${countOf(interrupted.commands, 'command')}${
        interrupted.unknown > 0 ? `; unknown for ${interrupted.unknown}` : ''
      })`,
      (alert) => `${alertLine(alert)}, ${countOf(alert.work?.commands ?? 0, 'command')}`,
    ),
    list(deleted, `Disks deleted: ${deleted.count} of ${countOf(deleted.of, 'scheduled shutdown')}`, alertLine),
    list(failed, `Devboxes failed: ${failed.count}`, alertLine),
    '## Coverage',
    list(
      outages,
      `Outages of the eviction watch: ${outages.count}${outages.count > 0 ? `, ${durationText(outages.total_ms)} in the period` : ''}`,
      ({ deadline_ms, closed_ms, watch }) =>
        `${timeText(deadline_ms)} to ${closed_ms === null ? 'now' : timeText(closed_ms)}: ${plainText(watch?.detail)}`,
    ),
    bullets(
      silences.map(
        ({ by, comment, alerts }) =>
          `Silence by ${nameText(by)}${comment === '' ? '' : ` (${plainText(comment)})`}: ${countOf(alerts, 'alert')}`,
      ),
    ),
    receivers.length === 0
      ? 'No receivers: alerts reached only open pages.'
      : bullets(receivers.map((receiver) => `Receiver ${receiverText(receiver)}`)),
    '## Practice',
    `${countOf(practice.drills, 'drill')}, ${countOf(practice.tests, 'test alert')}.${
      practice.response.median_ms === null
        ? ''
        : ` Drills acknowledged: ${practice.response.n}, median ${durationText(practice.response.median_ms)}.`
    }`,
  ]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n')
}

const list = <Item>({ count, items }: Listed<Item>, title: string, lineOf: (item: Item) => string): string =>
  [
    `${title}.`,
    ...(count === 0 ? [] : ['', ...items.map((item) => `- ${lineOf(item)}`)]),
    ...(count > items.length ? [`- and ${count - items.length} more`] : []),
  ].join('\n')

const bullets = (lines: readonly string[]) => lines.map((line) => `- ${line}`).join('\n')

const receiverText = ({ name, format, host, delivered, failed, waiting, failure }: ReceiverReport): string =>
  [
    `${plainText(name)} (${plainText(host)}): ${format === 'heartbeat' ? 'heartbeat' : `${delivered} delivered, ${failed} failed`}`,
    ...(waiting > 0 ? [`${countOf(waiting, 'message')} waiting now`] : []),
    ...(failure ? [`failing since ${timeText(failure.since_ms)} (${plainText(failure.answer)})`] : []),
  ].join(', ')

const personText = ({ name, acknowledged, handed_over, received, commented, stopped }: PersonReport): string => {
  const shown = acknowledged.items.slice(0, 3).map(alertText)
  const more = acknowledged.count - shown.length
  const took = [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ')
  return `${nameText(name)}: ${[
    ...(acknowledged.count > 0 ? [`acknowledged ${acknowledged.count} (${took})`] : []),
    ...(handed_over > 0 ? [`handed over ${handed_over}`] : []),
    ...(received > 0 ? [`received ${received}`] : []),
    ...(stopped > 0 ? [`stopped ${countOf(stopped, 'devbox', 'devboxes')} early`] : []),
    ...(commented > 0 ? [countOf(commented, 'comment')] : []),
  ].join(', ')}`
}

const alertText = ({ kind, devbox_id, devbox_name, job }: Alert): string =>
  kind === 'watch' ? 'Eviction watch' : plainText(job?.name ?? (devbox_name || devbox_id))

const alertLine = (alert: Alert): string => `${timeText(occurredMs(alert))} ${alertText(alert)}`

const nameText = (name: string | null | undefined): string => plainText(name ?? 'Devdeck')

/** One line without Markdown, links or mentions. */
const plainText = (text = ''): string => nameInText(text).replace(/[\\`*_{}[\]()#+|~!@]/g, '\\$&')

const timeText = (ms: number): string =>
  new Date(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/:\d\d\.\d+Z$/, ' UTC')

const countOf = (count: number, one: string, many = `${one}s`) => `${count} ${count === 1 ? one : many}`

/** The two largest units: "2 min 5 s". */
const durationText = (ms: number): string => {
  const seconds = Math.round(ms / 1000)
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const
  const first = parts.findIndex(([amount]) => amount > 0)
  return first === -1
    ? '0 s'
    : parts
        .slice(first, first + 2)
        .filter(([amount]) => amount > 0)
        .map(([amount, unit]) => `${amount} ${unit}`)
        .join(' ')
}
