'use client'
import { useQuery } from '@tanstack/react-query'
import { ErrorState } from '#components/ui/error-state.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { hasHappened } from '#lib/protocol/alerts.ts'
import { alertName } from './alert-feed.ts'
import { AcknowledgedBy, AlertStateBadge } from './alert-state.tsx'
import { alertKindLabels } from './alert-text.ts'
import { alertQueries } from './queries.ts'

/** The outcome of an alert that is no longer pending when its link is opened. */
export const LinkedAlert = ({ id }: { id: string }) => {
  // Alert ids start with the id of the devbox or job.
  const query = useQuery(alertQueries.ofDevbox(id.split(/[@:]/)[0] ?? ''))
  const alert = query.data?.find((each) => each.id === id)
  return (
    <section aria-labelledby="linked" className="mb-6 space-y-2">
      <h2 id="linked" className="text-lg font-medium">
        Linked alert
      </h2>
      {query.error && !query.data && (
        <ErrorState compact title="The alert could not be loaded" error={query.error} query={query} />
      )}
      {query.data && !alert && (
        <p className="text-muted">
          Alert not found. It may belong to another account or console, or have been removed from the history.
        </p>
      )}
      {alert && (
        <p className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line py-1">
          <VisibleText max={60} className="min-w-0 font-medium">
            {alertName(alert)}
          </VisibleText>
          <span className="text-muted">
            {alertKindLabels[alert.kind]}, {hasHappened(alert) ? '' : 'deadline '}
            <RelativeTime ms={alert.deadline_ms} />
          </span>
          <AlertStateBadge alert={alert} />
          <AcknowledgedBy alert={alert} />
          {alert.acknowledged_ms !== null && <RelativeTime ms={alert.acknowledged_ms} className="text-muted" />}
        </p>
      )}
    </section>
  )
}
