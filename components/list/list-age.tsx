'use client'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { formatTimeOfDay, formatZone } from '#components/ui/time-text.ts'
import { useClock } from '#components/ui/use-clock.ts'
import { t } from '#lib/language/translate.ts'

/** How old the rows of a list are. There is no stream of things to follow, so a list is never called live. */
export const ListAge = ({ ms }: { ms: number }) => {
  // The server knows neither the zone nor the clock of the browser.
  const asOf = useClock(() => t('As of {time},', { time: `${formatTimeOfDay(ms).slice(0, 8)} ${formatZone(ms)}` }), '')
  return (
    <p>
      <span className="tabular">{asOf}</span> <RelativeTime ms={ms} />
    </p>
  )
}
