import { formatCount, formatCountdown } from '#lib/browser/format.ts'
import { type Alert, type AlertGroup, hasHappened, nameInText } from '#lib/protocol/alerts.ts'
import { alarmOf } from './alert-feed.ts'
import { alertEvent, groupConsequence, groupName } from './alert-text.ts'

/** Text of one toast or notification for several alarms. */
export interface Announcement {
  first: Alert
  alarms: readonly string[]
  /** Continued by `event`: "80 devboxes on host-7" and "will be evicted". */
  name: string
  event: string
  body: string | undefined
}

const maxNamed = 3

/** `groups` are either all evictions or none. */
export const announcementOf = (groups: readonly [AlertGroup, ...AlertGroup[]]): Announcement => {
  const [group, ...others] = groups
  const [first] = group.alerts
  const alarms = groups.flatMap(({ alerts }) => alerts.map(alarmOf))
  if (others.length === 0)
    return { first, alarms, name: groupName(group), event: alertEvent(first), body: groupConsequence(group) }
  const named = groups.slice(0, maxNamed).map((each) => nameInText(groupName(each)))
  const names = [...named, ...(groups.length > maxNamed ? ['…'] : [])].join(', ')
  const count = formatCount(alarms.length)
  if (first.kind === 'eviction')
    return {
      first,
      alarms,
      name: `${count} devboxes`,
      event: 'will be evicted, the first',
      body: `${names}. They will be suspended: their processes end, their disks are kept.`,
    }
  return { first, alarms, name: `${count} alerts`, event: hasHappened(first) ? '' : 'pending, the first', body: names }
}

/** "api will be evicted in 04:12". */
export const announcementLine = ({ first, name, event }: Announcement, leftMs: number): string => {
  if (first.kind === 'test') return 'Test alert'
  return `${nameInText(name)} ${event}${hasHappened(first) ? '' : ` in ${formatCountdown(leftMs)}`}`.trim()
}
