import type { ReactNode } from 'react'
import { type Column, narrowOnly } from '#components/list/column.ts'
import { classes } from '#components/ui/classes.ts'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { Alert } from '#lib/protocol/alerts.ts'
import { alertName } from './alert-feed.ts'
import { AcknowledgedBy, AlertStateBadge } from './alert-state.tsx'
import { alertKindLabels, alertStateLabels } from './alert-text.ts'

export const nameColumn = (header: string): Column<Alert> => ({
  id: 'name',
  header,
  cell: ({ row: { original: alert } }) => (
    <VisibleText max={60} truncate>
      {alertName(alert)}
    </VisibleText>
  ),
  meta: { priority: 1 },
})

/** On a narrow screen the line below it says what cannot wait for the card: what is lost, and whether somebody has it. */
export const pendingNameColumn: Column<Alert> = {
  ...nameColumn('About'),
  cell: ({ row: { original: alert } }) => (
    <span className="flex min-w-0 flex-col leading-tight">
      <VisibleText max={60} truncate>
        {alertName(alert)}
      </VisibleText>
      <span
        className={classes(narrowOnly, 'truncate text-sm font-normal', isLoss(alert) ? 'text-danger' : 'text-muted')}
      >
        {alertKindLabels[alert.kind]}, {alertStateLabels[alert.state].toLowerCase()}
      </span>
    </span>
  ),
}

const isLoss = ({ kind }: Alert) => kind === 'end' || kind === 'failure'

export const kindColumn: Column<Alert> = {
  id: 'kind',
  header: 'Kind',
  cell: ({ row: { original: alert } }) => (
    <span
      className={isLoss(alert) ? 'text-danger' : undefined}
      title={alert.end && (alert.end.cause === 'idle' ? 'Its idle time runs out' : 'Its keep-alive time runs out')}
    >
      {alertKindLabels[alert.kind]}
    </span>
  ),
  meta: { priority: 3, width: '8rem' },
}

export const stateColumn = (
  priority: 2 | 3,
  cell = (alert: Alert): ReactNode => <State alert={alert} />,
): Column<Alert> => ({
  id: 'state',
  header: 'State',
  cell: ({ row }) => cell(row.original),
  meta: { priority, width: '17rem' },
})

export const State = ({ alert, children }: { alert: Alert; children?: ReactNode }) => (
  <span className="flex flex-wrap items-center gap-x-2">
    <AlertStateBadge alert={alert} />
    {children}
    <AcknowledgedBy alert={alert} />
  </span>
)

export const metadataColumn: Column<Alert> = {
  id: 'metadata',
  header: 'Metadata',
  cell: ({ row }) => <MetadataChips metadata={row.original.metadata} max={2} />,
  meta: { priority: 5, width: '10rem' },
}
