import type { Column } from '#components/ui/data-table-row.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { alertName } from '#lib/console/alerts/alert-feed.ts'
import type { Alert } from '#lib/wire/alerts.ts'
import { AlertStateBadge, alertKindWords, TakenOn } from './alert-state.tsx'

/** The columns that what is pending and what has been have in common. */

export const nameColumn = (header: string): Column<Alert> => ({
  id: 'name',
  header,
  priority: 1,
  cell: (alert) => (
    <VisibleText max={60} truncate>
      {alertName(alert)}
    </VisibleText>
  ),
})

export const kindColumn: Column<Alert> = {
  id: 'kind',
  header: 'Kind',
  priority: 3,
  width: '8.5rem',
  cell: ({ kind, end }) => (
    <span
      className={kind === 'end' || kind === 'failure' ? 'text-danger' : undefined}
      title={end && (end.cause === 'idle' ? 'Its idle time runs out' : 'Its keep-alive time runs out')}
    >
      {alertKindWords[kind]}
    </span>
  ),
}

/** `saysHeard`: where no column of its own says when it was heard of. */
export const stateColumn = (priority: 2 | 3, saysHeard = false): Column<Alert> => ({
  id: 'state',
  header: 'State',
  priority,
  width: '18.5rem',
  cell: (alert) => (
    <span className="flex flex-wrap items-center gap-x-2">
      <AlertStateBadge alert={alert} />
      <TakenOn alert={alert} />
      {saysHeard && alert.acknowledged_ms === null && <RelativeTime ms={alert.first_heard_ms} className="text-muted" />}
    </span>
  ),
})

export const metadataColumn: Column<Alert> = {
  id: 'metadata',
  header: 'Metadata',
  priority: 3,
  cell: ({ metadata }) => <MetadataChips metadata={metadata} max={2} />,
}
