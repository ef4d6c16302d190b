import type { ReactNode } from 'react'
import { NodeLink } from '#components/cluster/node-link.tsx'
import type { Column } from '#components/list/column.ts'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { alertKindLabels } from '#lib/protocol/alert-labels.ts'
import type { Alert } from '#lib/protocol/alerts.ts'
import { alertName } from './alert-feed.ts'
import { AcknowledgedBy, AlertStateBadge } from './alert-state.tsx'

export const nameColumn: Column<Alert> = {
  accessorFn: alertName,
  id: 'name',
  header: 'Name',
  cell: ({ row: { original: alert } }) => (
    <VisibleText max={60} truncate>
      {alertName(alert)}
    </VisibleText>
  ),
  meta: { priority: 1 },
}

export const isLoss = ({ kind }: Alert) => kind === 'end' || kind === 'failure' || kind === 'watch'

export const kindColumn: Column<Alert> = {
  accessorFn: ({ kind }) => alertKindLabels[kind],
  id: 'kind',
  header: 'Kind',
  cell: ({ row }) => <Kind alert={row.original} />,
  meta: { priority: 3, width: '8rem' },
}

export const Kind = ({ alert }: { alert: Alert }) => (
  <span
    className={isLoss(alert) ? 'text-danger' : undefined}
    title={alert.watch?.detail ?? (alert.end && endTitles[alert.end.cause])}
  >
    {alertKindLabels[alert.kind]}
  </span>
)

const endTitles = { idle: 'Its idle time runs out', keep_alive: 'Its keep-alive time runs out' }

export const stateColumn: Column<Alert> = {
  accessorKey: 'state',
  id: 'state',
  header: 'State',
  cell: ({ row }) => <State alert={row.original} />,
  meta: { priority: 2, width: '21rem' },
}

export const State = ({ alert, children }: { alert: Alert; children?: ReactNode }) => (
  <span className="flex flex-wrap items-center gap-x-2">
    <AlertStateBadge alert={alert} />
    {children}
    <AcknowledgedBy alert={alert} />
  </span>
)

export const nodeColumn: Column<Alert> = {
  accessorKey: 'node',
  id: 'node',
  header: 'Node',
  cell: ({ row }) => <NodeLink hostname={row.original.node} />,
  meta: { priority: 5, width: '9rem' },
}

export const metadataColumn: Column<Alert> = {
  accessorKey: 'metadata',
  id: 'metadata',
  header: 'Metadata',
  cell: ({ row }) => <MetadataChips metadata={row.original.metadata} max={2} />,
  meta: { priority: 5, width: '10rem' },
}
