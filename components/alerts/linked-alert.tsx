'use client'
import { useQuery } from '@tanstack/react-query'
import { ErrorState } from '#components/ui/error-state.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { alertName } from '#lib/browser/alerts/alert-feed.ts'
import { alertQueries } from '#lib/browser/queries/alerts.ts'
import { hasHappened } from '#lib/protocol/alerts.ts'
import { AlertStateBadge, alertKindWords, TakenOn } from './alert-state.tsx'

/** What became of the alert that a link leads to, where it is no longer pending. */
export const LinkedAlert = ({ id }: { id: string }) => {
  // The id of an alert begins with that of its devbox or job.
  const query = useQuery(alertQueries.ofDevbox(id.split(/[@:]/)[0] ?? ''))
  const alert = query.data?.find((each) => each.id === id)
  return (
    <section aria-labelledby="linked" className="mb-6 space-y-2">
      <h2 id="linked" className="text-lg font-medium">
        The alert of this link
      </h2>
      {query.error && !query.data && (
        <ErrorState compact title="What became of it is unknown" error={query.error} query={query} />
      )}
      {query.data && !alert && (
        <p className="text-muted">
          This console does not know it: it was another account’s or another console’s, or is older than what is kept.
        </p>
      )}
      {alert && (
        <p className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line py-1">
          <VisibleText max={60} className="min-w-0 font-medium">
            {alertName(alert)}
          </VisibleText>
          <span className="text-muted">
            {alertKindWords[alert.kind]}, {hasHappened(alert) ? '' : 'deadline '}
            <RelativeTime ms={alert.deadline_ms} />
          </span>
          <AlertStateBadge alert={alert} />
          <TakenOn alert={alert} />
          {alert.acknowledged_ms !== null && <RelativeTime ms={alert.acknowledged_ms} className="text-muted" />}
        </p>
      )}
    </section>
  )
}
