import { useQuery } from '@tanstack/react-query'
import { useClock } from '#components/ui/use-clock.ts'
import type { Alert } from '#lib/protocol/alerts.ts'
import { audibleAlerts, nextFirst } from './alert-feed.ts'
import { alertQueries } from './queries.ts'

/** Open alerts that are not silenced, most urgent first; overdue ones last. */
export const useAudibleAlerts = (): Alert[] => {
  const { data: feed } = useQuery(alertQueries.feed())
  // Joined ids keep the snapshot comparable: the clock ticks four times a second.
  const ids = useClock(
    (nowMs) =>
      nextFirst(audibleAlerts(feed, nowMs), nowMs)
        .map(({ id }) => id)
        .join(' '),
    '',
  )
  const byId = new Map(feed.open.map((alert) => [alert.id, alert]))
  return ids.split(' ').flatMap((id) => byId.get(id) ?? [])
}
