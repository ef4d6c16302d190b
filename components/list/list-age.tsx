'use client'
import { RelativeTime, useShownZone } from '#components/ui/relative-time.tsx'
import { formatTimeOfDay, formatZone } from '#components/ui/time-text.ts'

/** How old the rows of a list are. There is no stream of things to follow, so a list is never called live. */
export const ListAge = ({ ms }: { ms: number }) => {
  const zone = useShownZone()
  return (
    // As wide as most zones make it: what stands beside it stays where it is.
    <p className="min-w-60">
      <span className="tabular">{`As of ${`${formatTimeOfDay(ms, zone).slice(0, 8)} ${formatZone(ms, zone)}`},`}</span>{' '}
      <RelativeTime ms={ms} />
    </p>
  )
}
