'use client'
import { problemOf } from '#components/ui/problem.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { formatTimeOfDay, formatZone } from '#components/ui/time-text.ts'
import { useClock } from '#components/ui/use-clock.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { t } from '#lib/language/translate.ts'

interface ListAgeProps {
  /** When the oldest of the rows was read. */
  ms: number
  /** Why they could not be read again, where nothing else says so. */
  error?: Error | null
  /** They are read again by themselves. */
  isRefreshed?: boolean
}

/** How old the rows of a list are. There is no stream of things to follow, so a list is never called live. */
export const ListAge = ({ ms, error, isRefreshed = true }: ListAgeProps) => {
  // The server knows neither the zone nor the clock of the browser.
  const asOf = useClock(() => t('As of {time},', { time: `${formatTimeOfDay(ms).slice(0, 8)} ${formatZone(ms)}` }), '')
  return (
    <p>
      <span className="tabular">{asOf}</span> <RelativeTime ms={ms} />
      {!isRefreshed && `; ${t('too many rows to be read again by themselves')}`}
      {error && (
        <span className="text-attention">
          ; {t('not since')}: <VisibleText max={200}>{problemOf(error).message}</VisibleText>
        </span>
      )}
    </p>
  )
}
