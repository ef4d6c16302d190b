import { useQuery } from '@tanstack/react-query'
import { useClock } from '#components/ui/use-clock.ts'
import type { Alert } from '#lib/protocol/alerts.ts'
import { audibleAlerts, worstFirst } from './alert-feed.ts'
import { alertQueries } from './queries.ts'

/** Open alerts that are not silenced, worst first. */
export const useAudibleAlerts = (): Alert[] => {
  const { data: feed } = useQuery(alertQueries.feed())
  // Joined ids keep the snapshot comparable: the clock ticks four times a second.
  const ids = useClock(
    (nowMs) =>
      worstFirst(audibleAlerts(feed, nowMs), nowMs)
        .map(({ id }) => id)
        .join('\n'),
    '',
  )
  const byId = new Map(feed.open.map((alert) => [alert.id, alert]))
  return ids.split('\n').flatMap((id) => byId.get(id) ?? [])
}
