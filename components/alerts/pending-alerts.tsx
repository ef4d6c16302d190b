'use client'
import { useQuery } from '@tanstack/react-query'
import { ArrowRightLeft, BellOff, Camera, Check, Ellipsis, Pause, UserRoundPlus } from 'lucide-react'
import { useMemo, useState } from 'react'
import { NodeLink } from '#components/cluster/node-link.tsx'
import { type Column, narrowOnly } from '#components/list/column.ts'
import { DataTable } from '#components/list/data-table.tsx'
import { BulkBar } from '#components/list/selection-bar.tsx'
import { Button } from '#components/ui/button.tsx'
import { Chips } from '#components/ui/choice/chips.tsx'
import { classes } from '#components/ui/classes.ts'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { formatTimeOfDay } from '#components/ui/time-text.ts'
import { useClock } from '#components/ui/use-clock.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatCountOf, isoTime } from '#lib/browser/format.ts'
import { alertKindLabels, alertStateLabels } from '#lib/protocol/alert-labels.ts'
import {
  type Alert,
  type AlertGroup,
  canAcknowledge,
  groupAlerts,
  hasHappened,
  isSilenced,
} from '#lib/protocol/alerts.ts'
import { AlertMenu, devboxesOf, isRunning, newOf, useAlertActions } from './alert-actions.tsx'
import { isLoss, Kind, State } from './alert-columns.tsx'
import { alertName, isAboutDevbox, lastConfirmedMs, timeLeftMs, type Urgency, urgencyOfTime } from './alert-feed.ts'
import { useAlertSelection } from './alert-selection.ts'
import { groupName, groupState, groupTitle } from './alert-text.ts'
import { Countdown } from './countdown.tsx'
import { isHeldBy, useOwnLabel } from './people/own-name.ts'
import { alertQueries } from './queries.ts'
import { RunningWork } from './running-work.tsx'

interface PendingAlertsProps {
  /** The alert in the page's address. */
  linkedId: string | undefined
  isLocal: boolean
  onSilence: (metadata: Record<string, string>) => void
}

type Holder = 'all' | 'mine' | 'none'

const holders = [
  { value: 'all', label: 'All' },
  { value: 'mine', label: 'Mine' },
  { value: 'none', label: 'Unacknowledged' },
] as const

const emptyTexts: Record<Holder, string> = {
  all: '',
  mine: "You haven't acknowledged any of the pending alerts.",
  none: 'All pending alerts are acknowledged.',
}

const isOfHolder = (alert: Alert, holder: Holder, own: string | undefined): boolean =>
  holder === 'all' || (holder === 'none' ? alert.state === 'new' : isHeldBy(own, alert))

interface PendingRow extends AlertGroup {
  /** Below the row of its group. */
  isMember: boolean
}

const rowsOf = (groups: readonly AlertGroup[], isOpened: (group: AlertGroup) => boolean): PendingRow[] =>
  groups.flatMap((group) => [
    { ...group, isMember: false },
    ...(group.alerts.length > 1 && isOpened(group)
      ? group.alerts.map((alert): PendingRow => ({ id: alert.id, alerts: [alert], isMember: true }))
      : []),
  ])

export const PendingAlerts = ({ linkedId, isLocal, onSilence }: PendingAlertsProps) => {
  const { data: feed } = useQuery(alertQueries.feed())
  const { open } = feed
  const own = useOwnLabel()
  const [filter, setFilter] = useState<Holder>('all')
  const hasHolder = open.some(({ state }) => state === 'acknowledged')
  const holder = hasHolder ? filter : 'all'
  const shown = useMemo(() => open.filter((alert) => isOfHolder(alert, holder, own)), [open, holder, own])
  const groups = useMemo(() => groupAlerts(shown), [shown])
  /** Groups start closed, except the one with the linked alert. */
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set())
  const isOpened = (group: AlertGroup) => toggled.has(group.id) !== group.alerts.some(({ id }) => id === linkedId)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what `isOpened` depends on
  const rows = useMemo(() => rowsOf(groups, isOpened), [groups, toggled, linkedId])
  const selection = useAlertSelection(groups)
  const selected = selection.alerts
  const selectedNew = newOf(selected).length
  const selectedDevboxes = devboxesOf(selected).length
  const noDevbox = selectedDevboxes === 0 ? 'no running devboxes selected' : null
  const actions = useAlertActions()
  const confirmedMs = lastConfirmedMs(feed)
  const silenced = useClock((nowMs) => open.filter((alert) => isSilenced(alert, feed.silences, nowMs)).length)
  return (
    <section aria-label="Pending" className="space-y-2">
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-2">
        <p role="status" className="text-muted">
          {formatCount(open.length)} pending{silenced > 0 && `, ${formatCount(silenced)} silenced`}
          {shown.length < open.length && `, ${formatCount(shown.length)} shown`}
          {confirmedMs !== null && (
            <>
              , last confirmed <RelativeTime ms={confirmedMs} />
            </>
          )}
        </p>
        {hasHolder && <Chips legend="Acknowledged by" value={holder} options={holders} onChange={setFilter} />}
      </div>
      <DataTable
        caption="Alerts, earliest deadline first"
        columns={open.some(({ node }) => node) ? columnsWithNode : columns}
        rows={rows}
        rowKey={({ id }) => id}
        selectedKey={linkedId}
        rowHref={({ alerts: [alert, ...others] }) => {
          if (others.length > 0) return undefined
          if (alert.job) return paths.benchmarkJob(alert.job.id)
          return isAboutDevbox(alert) ? paths.devbox(alert.devbox_id) : paths.alert(alert.id)
        }}
        isRowOpen={(row) => (row.alerts.length > 1 ? isOpened(row) : undefined)}
        onToggleRow={({ id }) => setToggled((before) => before.symmetricDifference(new Set([id])))}
        selection={{ ...selection, labelOf: (row) => `Select ${groupName(row)}` }}
        rowActions={(row) => (
          <RowActions
            row={row}
            actions={actions}
            isLocal={isLocal}
            onSilence={() => onSilence(row.alerts[0].metadata)}
          />
        )}
      />
      {shown.length === 0 && <p className="text-muted">{emptyTexts[holder]}</p>}
      {selected.length > 0 && (
        <BulkBar
          label="Selected alerts"
          status={`${formatCount(selected.length)} of ${formatCount(open.length)} selected`}
          onClear={selection.clear}
        >
          <Button
            size="sm"
            icon={Check}
            needs="/api/alerts"
            disabledReason={selectedNew === 0 ? 'already acknowledged' : null}
            onClick={() => actions.acknowledge(selected)}
          >
            Acknowledge {formatCount(selectedNew)}
          </Button>
          <Button size="sm" icon={UserRoundPlus} needs="/api/alerts" onClick={() => actions.handOver(selected)}>
            Hand over {formatCount(selected.length)}
          </Button>
          <Button
            size="sm"
            icon={Camera}
            needs="snapshots.createAsync"
            disabledReason={noDevbox}
            onClick={() => actions.snapshot(selected)}
          >
            Snapshot {formatCount(selectedDevboxes)}
          </Button>
          <Button
            size="sm"
            icon={Pause}
            needs="devboxes.suspend"
            disabledReason={noDevbox}
            onClick={() => actions.suspend(selected)}
          >
            Suspend {formatCount(selectedDevboxes)}
          </Button>
        </BulkBar>
      )}
      {actions.dialog}
    </section>
  )
}

const rowName = (row: PendingRow): string => {
  const [alert] = row.alerts
  if (alert.watch) return `${alertName(alert)}: ${alert.watch.detail}`
  return row.isMember ? alertName(alert) : groupTitle(row)
}

const columns: Column<PendingRow>[] = [
  {
    id: 'name',
    header: 'About',
    // On a narrow screen, a line below it shows what is lost and whether someone is handling it.
    cell: ({ row: { original: row } }) => (
      <span className={classes('flex min-w-0 flex-col leading-tight', row.isMember && 'pl-5')}>
        <VisibleText max={110} truncate>
          {rowName(row)}
        </VisibleText>
        <span
          className={classes(
            narrowOnly,
            'truncate text-sm font-normal',
            isLoss(row.alerts[0]) ? 'text-danger' : 'text-muted',
          )}
        >
          {alertKindLabels[row.alerts[0].kind]},{' '}
          {row.alerts.length > 1 ? groupState(row) : alertStateLabels[row.alerts[0].state].toLowerCase()}
        </span>
      </span>
    ),
    meta: { priority: 1 },
  },
  {
    id: 'left',
    header: 'Time left',
    cell: ({ row }) => <TimeLeft alert={row.original.alerts[0]} />,
    meta: { priority: 2, width: '6rem', align: 'right' },
  },
  {
    id: 'kind',
    header: 'Kind',
    cell: ({ row }) => <Kind alert={row.original.alerts[0]} />,
    meta: { priority: 3, width: '6rem' },
  },
  {
    id: 'state',
    header: 'State',
    cell: ({ row: { original: row } }) =>
      row.alerts.length > 1 ? (
        <span className="block truncate" title={groupState(row)}>
          {groupState(row)}
        </span>
      ) : (
        <PendingState alert={row.alerts[0]} />
      ),
    meta: { priority: 3, width: '26%' },
  },
  {
    id: 'metadata',
    header: 'Metadata',
    cell: ({ row: { original: row } }) =>
      row.alerts.length === 1 && <MetadataChips metadata={row.alerts[0].metadata} max={2} />,
    meta: { priority: 5, width: '10rem' },
  },
  {
    id: 'running',
    header: 'Running work',
    cell: ({ row: { original: row } }) => {
      if (row.alerts.length > 1) return trialsOf(row)
      return isRunning(row.alerts[0]) && <RunningWork alert={row.alerts[0]} />
    },
    meta: { priority: 4, width: '13rem' },
  },
]

const columnsWithNode: Column<PendingRow>[] = [
  ...columns,
  {
    id: 'node',
    header: 'Node',
    cell: ({ row }) => <NodeLink hostname={row.original.alerts[0].node} />,
    meta: { priority: 5, width: '8rem' },
  },
]

/** Commands and terminals would take two requests per devbox. */
const trialsOf = ({ alerts }: AlertGroup) => {
  const trials = alerts.filter(({ scenario_run_id }) => scenario_run_id).length
  return trials > 0 && formatCountOf(trials, 'benchmark trial')
}

const PendingState = ({ alert }: { alert: Alert }) => {
  const { data: feed } = useQuery(alertQueries.feed())
  const isQuiet = useClock((nowMs) => isSilenced(alert, feed.silences, nowMs))
  return (
    <State alert={alert}>
      {isQuiet && (
        <span title="Silenced" className="shrink-0 text-muted">
          <BellOff aria-hidden className="size-3.5" />
          <span className="sr-only">Silenced</span>
        </span>
      )}
      {alert.moved_from_ms !== undefined && <MovedFrom ms={alert.moved_from_ms} />}
      {alert.acknowledged_ms === null && <RelativeTime ms={alert.first_heard_ms} className="text-muted" />}
    </State>
  )
}

const MovedFrom = ({ ms }: { ms: number }) => {
  const text = `Rescheduled from ${formatTimeOfDay(ms).slice(0, 8)}`
  return (
    <span title={text} className="shrink-0 text-muted">
      <ArrowRightLeft aria-hidden className="size-3.5" />
      <span className="sr-only">{text}</span>
    </span>
  )
}

const TimeLeft = ({ alert }: { alert: Alert }) => {
  const urgency = useClock((nowMs) => urgencyOfTime(timeLeftMs(alert.deadline_ms, nowMs), alert.kind === 'end'))
  const isDue = useClock((nowMs) => timeLeftMs(alert.deadline_ms, nowMs) === 0)
  const tone = alert.kind === 'test' ? 'neutral' : urgency
  if (hasHappened(alert)) return <RelativeTime ms={alert.deadline_ms} />
  return (
    <span className={timeClasses[tone]}>
      {isDue ? <span title={isoTime(alert.deadline_ms)}>Due</span> : <Countdown deadlineMs={alert.deadline_ms} />}
    </span>
  )
}

const timeClasses: Record<Urgency, string> = {
  danger: 'font-semibold text-danger',
  attention: 'font-medium text-attention',
  neutral: 'font-medium',
}

interface RowActionsProps {
  row: PendingRow
  actions: ReturnType<typeof useAlertActions>
  isLocal: boolean
  onSilence: () => void
}

const RowActions = ({ row, actions, isLocal, onSilence }: RowActionsProps) => {
  const { alerts } = row
  const [alert, ...others] = alerts
  if (others.length > 0) return <GroupActions row={row} actions={actions} />
  return (
    <>
      <IconButton
        size="sm"
        icon={Check}
        label={`Acknowledge ${alertName(alert)}`}
        needs="/api/alerts"
        disabledReason={canAcknowledge(alert) ? null : 'Already acknowledged'}
        onClick={() => actions.acknowledge([alert])}
      />
      <AlertMenu alert={alert} actions={actions} isLocal={isLocal} onSilence={onSilence} />
    </>
  )
}

const GroupActions = ({ row, actions }: Pick<RowActionsProps, 'row' | 'actions'>) => {
  const { alerts } = row
  const name = groupName(row)
  const count = devboxesOf(alerts).length
  const noDevbox = count > 0 ? null : 'The devboxes are no longer running'
  const unacknowledged = newOf(alerts)
  return (
    <>
      <IconButton
        size="sm"
        icon={Check}
        label={`Acknowledge ${unacknowledged.length > 0 ? formatCount(unacknowledged.length) : 'all'} of ${name}`}
        needs="/api/alerts"
        disabledReason={unacknowledged.length > 0 ? null : 'Already acknowledged'}
        onClick={() => actions.acknowledge(unacknowledged)}
      />
      <DropdownMenu
        label={`Actions for ${name}`}
        trigger={<IconButton size="sm" icon={Ellipsis} label={`More actions for ${name}`} />}
        items={[
          {
            label: `Hand over ${formatCountOf(alerts.length, 'alert')}`,
            needs: '/api/alerts',
            icon: UserRoundPlus,
            onSelect: () => actions.handOver(alerts),
          },
          {
            label: `Snapshot ${formatCountOf(count, 'devbox', 'devboxes')}`,
            needs: 'snapshots.createAsync',
            icon: Camera,
            disabledReason: noDevbox,
            onSelect: () => actions.snapshot(alerts),
          },
          {
            label: `Suspend ${formatCountOf(count, 'devbox', 'devboxes')}`,
            needs: 'devboxes.suspend',
            icon: Pause,
            disabledReason: noDevbox,
            onSelect: () => actions.suspend(alerts),
          },
        ]}
      />
    </>
  )
}
