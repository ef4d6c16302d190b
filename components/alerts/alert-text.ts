import { cutEnd } from '#components/ui/text.ts'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { type Alert, type AlertGroup, nameInText } from '#lib/protocol/alerts.ts'
import { unverified } from '#lib/protocol/session.ts'
import { alertName } from './alert-feed.ts'

/** "api", "api on node-2" or "12 devboxes on node-2". */
export const groupName = ({ alerts: [first, ...others] }: AlertGroup): string => {
  const name = others.length > 0 ? formatCountOf(others.length + 1, 'devbox', 'devboxes') : cutEnd(alertName(first), 60)
  return first.node ? `${name} on ${cutEnd(first.node, 40)}` : name
}

/** "80 devboxes, drain of host-7". */
export const groupTitle = (group: AlertGroup): string => {
  const [{ kind, node }, ...others] = group.alerts
  if (others.length === 0 || kind !== 'eviction' || !node) return groupName(group)
  return `${formatCountOf(others.length + 1, 'devbox', 'devboxes')}, drain of ${cutEnd(node, 40)}`
}

const maxHolders = 3
/** Without the mark of unverified names, which the rows of the alerts show. */
const shortName = (name: string) => cutEnd(nameInText(name.replace(unverified(''), '')), 30)

/** "3 new, 77 acknowledged: Ada 70, Ben 7". */
export const groupState = ({ alerts }: AlertGroup): string => {
  const acknowledged = alerts.filter(({ state }) => state === 'acknowledged')
  const unacknowledged = alerts.length - acknowledged.length
  const byHolder = Map.groupBy(acknowledged, ({ acknowledged_by }) => acknowledged_by ?? '')
  const [holder, ...others] = [...byHolder].sort(([, a], [, b]) => b.length - a.length)
  const newOnes = unacknowledged > 0 ? `${formatCount(unacknowledged)} new` : ''
  if (!holder) return newOnes
  const named = [holder, ...others.slice(0, maxHolders - 1)]
  const by =
    others.length === 0
      ? ` by ${nameInText(holder[0])}`
      : `: ${named.map(([name, { length }]) => `${shortName(name)} ${formatCount(length)}`).join(', ')}`
  const more = byHolder.size > maxHolders ? ` and ${formatCountOf(byHolder.size - maxHolders, 'other')}` : ''
  return `${newOnes && `${newOnes}, `}${formatCount(acknowledged.length)} acknowledged${by}${more}`
}

/** Continues the alert's name: "api will be evicted". */
export const alertEvent = ({ kind, job, node }: Pick<Alert, 'kind' | 'job' | 'node'>): string => {
  if (kind === 'watch') return 'may miss evictions'
  if (kind === 'eviction') return 'will be evicted'
  if (kind === 'end') return 'will be shut down and its disk deleted'
  if (kind === 'failure') return node ? 'failed: the node was lost' : 'failed'
  return job ? `ended: ${job.state === 'cancelled' ? 'canceled' : job.state}` : 'ended'
}

export const groupConsequence = ({ alerts: [first, ...others] }: AlertGroup): string | undefined => {
  const { kind, node, end, job, watch } = first
  if (kind === 'eviction')
    return others.length > 0
      ? 'They will be suspended: their processes end, their disks are kept.'
      : 'It will be suspended: its processes end, its disk is kept.'
  if (kind === 'failure')
    return node
      ? 'Resume on another node from the last suspension or snapshot.'
      : 'Its processes have ended. See its log for the reason.'
  if (job) return 'You follow this benchmark job.'
  if (watch) return `${watch.detail}. Events may go unannounced until this is resolved.`
  if (kind !== 'end') return undefined
  const isIdle = end?.cause === 'idle'
  const earliest = end?.is_at_least ? ' This is the earliest time; the service does not report the exact one.' : ''
  return `${isIdle ? 'It is idle. ' : ''}Its files will be lost unless it is ${isIdle ? 'used' : 'kept alive'} or you take a snapshot.${earliest}`
}
