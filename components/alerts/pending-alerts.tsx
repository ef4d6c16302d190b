'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Ban, BellOff, Camera, Check, Copy, Download, Ellipsis, Pause, RefreshCw, SquareTerminal } from 'lucide-react'
import { useMemo, useState } from 'react'
import { scenarioRunQueries } from '#components/benchmarks/run/queries.ts'
import { NodeLink } from '#components/cluster/node-link.tsx'
import { executionQueries } from '#components/commands/queries.ts'
import { devboxMutations } from '#components/devboxes/queries.ts'
import { downloadHome } from '#components/files/file-download.ts'
import { type Column, narrowOnly } from '#components/list/column.ts'
import { DataTable } from '#components/list/data-table.tsx'
import { actOnEach, BulkBar } from '#components/list/selection-bar.tsx'
import { snapshotMutations } from '#components/snapshots/queries.ts'
import { terminalQueries } from '#components/terminal/queries.ts'
import { Button } from '#components/ui/button.tsx'
import { classes } from '#components/ui/classes.ts'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { toast } from '#components/ui/toast.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { writeClipboard } from '#components/ui/use-copy.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCountOf, isoTime } from '#lib/browser/format.ts'
import { alertKindLabels, alertStateLabels } from '#lib/protocol/alert-labels.ts'
import { type Alert, type AlertGroup, alertText, groupAlerts, hasHappened, isSilenced } from '#lib/protocol/alerts.ts'
import { isAboutDevbox, isLoss, Kind, State } from './alert-columns.tsx'
import { alertHref, alertName, timeLeftMs, type Urgency, urgencyOfTime } from './alert-feed.ts'
import { useAlertSelection } from './alert-selection.ts'
import { groupName } from './alert-text.ts'
import { Countdown } from './countdown.tsx'
import { alertMutations, alertQueries } from './queries.ts'
import { useRescue } from './use-rescue.ts'

const idOf = ({ id }: Alert) => id

interface PendingAlertsProps {
  /** The alert in the page's address. */
  linkedId: string | undefined
  isLocal: boolean
  onSilence: (metadata: Record<string, string>) => void
}

interface PendingRow extends AlertGroup {
  /** Below the row of its group. */
  isMember: boolean
}

export const PendingAlerts = ({ linkedId, isLocal, onSilence }: PendingAlertsProps) => {
  const { data: feed } = useQuery(alertQueries.feed())
  const { open } = feed
  const groups = useMemo(() => groupAlerts(open), [open])
  /** Groups start closed, except the one with the linked alert. */
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set())
  const isOpened = (group: AlertGroup) => toggled.has(group.id) !== group.alerts.some(({ id }) => id === linkedId)
  const rows = groups.flatMap((group): PendingRow[] => [
    { ...group, isMember: false },
    ...(group.alerts.length > 1 && isOpened(group)
      ? group.alerts.map((alert): PendingRow => ({ id: alert.id, alerts: [alert], isMember: true }))
      : []),
  ])
  const selection = useAlertSelection(groups)
  const selected = selection.alerts
  const actions = useAlertActions()
  const silenced = useClock((nowMs) => open.filter((alert) => isSilenced(alert, feed.silences, nowMs)).length)
  return (
    <section aria-label="Pending" className="space-y-2">
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-2">
        <p role="status" className="text-muted">
          {open.length} pending{silenced > 0 && `, ${silenced} silenced`}
        </p>
      </div>
      <DataTable
        caption="Alerts, earliest deadline first"
        columns={open.some(({ node }) => node) ? columnsWithNode : columns}
        rows={rows}
        rowKey={({ id }) => id}
        selectedKey={linkedId}
        rowHref={({ alerts: [alert, ...others] }) => {
          if (others.length > 0) return undefined
          return isAboutDevbox(alert) ? paths.devbox(alert.devbox_id) : alertHref(alert)
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
      {selected.length > 0 && (
        <BulkBar
          label="Selected alerts"
          status={`${selected.length} of ${open.length} selected`}
          onClear={selection.clear}
        >
          <Button size="sm" icon={Check} onClick={() => actions.acknowledge(selected)}>
            Acknowledge {newOf(selected).length}
          </Button>
          <Button size="sm" icon={Camera} onClick={() => actions.snapshot(selected)}>
            Snapshot {devboxesOf(selected).length}
          </Button>
          <Button size="sm" icon={Pause} onClick={() => actions.suspend(selected)}>
            Suspend {devboxesOf(selected).length}
          </Button>
        </BulkBar>
      )}
      {actions.dialog}
    </section>
  )
}

const newOf = (alerts: readonly Alert[]) => alerts.filter(({ state }) => state === 'new')

const devboxesOf = (alerts: readonly Alert[]) => [
  ...new Set(alerts.filter(isRunning).map(({ devbox_id }) => devbox_id)),
]

const isRunning = ({ kind }: Alert) => kind === 'eviction' || kind === 'end'

const columns: Column<PendingRow>[] = [
  {
    id: 'name',
    header: 'About',
    // On a narrow screen, a line below it says what can't wait for the card: what is lost, and whether somebody has it.
    cell: ({ row: { original: row } }) => (
      <span className={classes('flex min-w-0 flex-col leading-tight', row.isMember && 'pl-5')}>
        <VisibleText max={110} truncate>
          {row.isMember ? alertName(row.alerts[0]) : groupName(row)}
        </VisibleText>
        <span
          className={classes(
            narrowOnly,
            'truncate text-sm font-normal',
            isLoss(row.alerts[0]) ? 'text-danger' : 'text-muted',
          )}
        >
          {alertKindLabels[row.alerts[0].kind]}, {stateWords(row).toLowerCase()}
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
    meta: { priority: 3, width: '8rem' },
  },
  {
    id: 'state',
    header: 'State',
    cell: ({ row: { original: row } }) =>
      row.alerts.length > 1 ? stateWords(row) : <PendingState alert={row.alerts[0]} />,
    meta: { priority: 3, width: '17rem' },
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
    cell: ({ row: { original: row } }) =>
      row.alerts.length === 1 && isRunning(row.alerts[0]) && <RunningWork alert={row.alerts[0]} />,
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

/** "New", or "3 new, 9 acknowledged" for a group. */
const stateWords = ({ alerts: [first, ...others] }: AlertGroup): string => {
  if (others.length === 0) return alertStateLabels[first.state]
  const unacknowledged = newOf([first, ...others]).length
  const rest = others.length + 1 - unacknowledged
  return [unacknowledged > 0 && `${unacknowledged} new`, rest > 0 && `${rest} acknowledged`].filter(Boolean).join(', ')
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
      {alert.acknowledged_ms === null && <RelativeTime ms={alert.first_heard_ms} className="text-muted" />}
    </State>
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

const useAlertActions = () => {
  const acknowledge = useMutation(alertMutations.acknowledge())
  const snapshot = useMutation(snapshotMutations.create())
  const suspend = useMutation(devboxMutations.suspend())
  const cancel = useMutation(alertMutations.endDrill())
  const [suspending, setSuspending] = useState<readonly string[]>()
  return {
    acknowledge: (alerts: readonly Alert[]) =>
      acknowledge.mutate(alerts.map(idOf), {
        onError: toast.failed('Couldn’t acknowledge'),
      }),
    snapshot: (alerts: readonly Alert[]) =>
      void actOnEach(bulkMessages.snapshot, devboxesOf(alerts), (devboxId) =>
        snapshot.mutateAsync({ devboxId, name: 'before-eviction', metadata: { reason: 'eviction' } }),
      ),
    suspend: (alerts: readonly Alert[]) => setSuspending(devboxesOf(alerts)),
    downloadHome: (alert: Alert) => {
      toast.info(`Preparing the home folder of ${alertName(alert)}`)
      downloadHome(alert.devbox_id).catch(toast.failed('Couldn’t download the home folder'))
    },
    cancel: (alert: Alert) =>
      cancel.mutate(alert.devbox_id, {
        onSuccess: () => toast.ok(`Eviction of ${alertName(alert)} canceled`),
        onError: toast.failed('Couldn’t cancel the eviction'),
      }),
    dialog: suspending && (
      <ConfirmDialog
        open
        onOpenChange={(isOpen) => !isOpen && setSuspending(undefined)}
        title={suspending.length === 1 ? 'Suspend devbox?' : `Suspend ${suspending.length} devboxes?`}
        consequence={
          suspending.length === 1
            ? 'Its processes and terminals end now. Its disk is kept, and you can resume it later.'
            : `The processes and terminals of ${suspending.length} devboxes end now. Their disks are kept, and you can resume them later.`
        }
        confirmLabel={suspending.length === 1 ? 'Suspend devbox' : `Suspend ${suspending.length} devboxes`}
        tone="primary"
        onConfirm={() => {
          setSuspending(undefined)
          void actOnEach(bulkMessages.suspend, suspending, (id) => suspend.mutateAsync(id))
        }}
      />
    ),
  }
}

const bulkMessages = {
  snapshot: { done: 'Snapshot started', failed: 'Some snapshots could not be started' },
  suspend: { done: 'Suspending', failed: 'Some devboxes could not be suspended' },
} as const

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
  return <AlertActions alert={alert} actions={actions} isLocal={isLocal} onSilence={onSilence} />
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
        label={`Acknowledge ${unacknowledged.length || 'all'} of ${name}`}
        disabledReason={unacknowledged.length > 0 ? null : 'Already acknowledged'}
        onClick={() => actions.acknowledge(unacknowledged)}
      />
      <DropdownMenu
        label={`Actions for ${name}`}
        trigger={<IconButton size="sm" icon={Ellipsis} label={`More actions for ${name}`} />}
        items={[
          {
            label: `Snapshot ${formatCountOf(count, 'devbox', 'devboxes')}`,
            icon: Camera,
            disabledReason: noDevbox,
            onSelect: () => actions.snapshot(alerts),
          },
          {
            label: `Suspend ${formatCountOf(count, 'devbox', 'devboxes')}`,
            icon: Pause,
            disabledReason: noDevbox,
            onSelect: () => actions.suspend(alerts),
          },
        ]}
      />
    </>
  )
}

interface AlertActionsProps extends Omit<RowActionsProps, 'row'> {
  alert: Alert
}

const AlertActions = ({ alert, actions, isLocal, onSilence }: AlertActionsProps) => {
  const name = alertName(alert)
  const { keepAlive } = useRescue()
  const noDevbox = isRunning(alert)
    ? null
    : alert.kind === 'failure'
      ? 'The devbox is no longer running'
      : 'This alert has no devbox'
  return (
    <>
      <IconButton
        size="sm"
        icon={Check}
        label={`Acknowledge ${name}`}
        disabledReason={alert.state === 'new' ? null : 'Already acknowledged'}
        onClick={() => actions.acknowledge([alert])}
      />
      <DropdownMenu
        label={`Actions for ${name}`}
        trigger={<IconButton size="sm" icon={Ellipsis} label={`More actions for ${name}`} />}
        items={[
          ...(alert.end?.cause === 'keep_alive'
            ? [{ label: 'Keep alive', icon: RefreshCw, onSelect: () => keepAlive(alert.devbox_id) }]
            : []),
          {
            label: 'Open terminal',
            icon: SquareTerminal,
            href: paths.devbox(alert.devbox_id, 'terminal'),
            disabledReason: noDevbox,
          },
          {
            label: 'Take snapshot now',
            icon: Camera,
            disabledReason: noDevbox,
            onSelect: () => actions.snapshot([alert]),
          },
          { label: 'Suspend now', icon: Pause, disabledReason: noDevbox, onSelect: () => actions.suspend([alert]) },
          {
            label: 'Download home folder',
            icon: Download,
            disabledReason: noDevbox,
            onSelect: () => actions.downloadHome(alert),
          },
          ...(alert.kind === 'eviction'
            ? [
                {
                  label: alert.is_drill ? 'Cancel drill' : 'Cancel eviction',
                  icon: Ban,
                  disabledReason: isLocal ? null : 'Only the local service can cancel evictions',
                  onSelect: () => actions.cancel(alert),
                },
              ]
            : []),
          'separator',
          {
            label: 'Silence by metadata',
            icon: BellOff,
            disabledReason: Object.keys(alert.metadata).length === 0 ? 'The devbox has no metadata' : null,
            onSelect: onSilence,
          },
          {
            label: 'Copy as message',
            icon: Copy,
            onSelect: () =>
              void writeClipboard(alertText(alert, location.origin + paths.evictions({ alert: alert.id }))).then(
                (isCopied) => (isCopied ? toast.ok('Copied') : toast.danger('The browser blocked copying')),
              ),
          },
        ]}
      />
    </>
  )
}

/** Work that an eviction would interrupt: commands, terminals with their viewers, or a benchmark trial. */
const RunningWork = ({ alert: { devbox_id, scenario_run_id } }: { alert: Alert }) => {
  const { data: commands, error: commandsError } = useQuery(executionQueries.running(devbox_id))
  const { data: terminals, error: terminalsError } = useQuery(terminalQueries.held(devbox_id))
  if (!commands || !terminals) {
    const error = commandsError ?? terminalsError
    return (
      <span className="text-muted" title={error ? problemOf(error).message : undefined}>
        {error ? 'Unknown' : 'Loading …'}
      </span>
    )
  }
  const viewers = terminals.reduce((sum, terminal) => sum + terminal.viewers.length, 0)
  const [first] = commands
  const isIdle = commands.length + terminals.length === 0 && !scenario_run_id
  return (
    <span className="inline-flex max-w-full min-w-0 items-baseline gap-x-2">
      {isIdle && <span className="text-muted">Nothing reported</span>}
      {scenario_run_id && <Trial id={scenario_run_id} />}
      {first !== undefined && (
        <span className="min-w-0 truncate" title={commands.join('\n')}>
          <code className="font-mono">
            <VisibleText max={40}>{first}</VisibleText>
          </code>
          {commands.length > 1 && ` and ${commands.length - 1} more`}
        </span>
      )}
      {terminals.length > 0 && (
        <span className="shrink-0" title="Open in this console">
          {formatCountOf(terminals.length, 'terminal')}
          {viewers > 0 && `, ${viewers} watching`}
        </span>
      )}
    </span>
  )
}

const Trial = ({ id }: { id: string }) => {
  const { data } = useQuery(scenarioRunQueries.get(id))
  if (!data?.benchmark_run_id) return <span className="shrink-0">Trial</span>
  return (
    <TextLink href={paths.benchmarkRun(data.benchmark_run_id)} inRow className="shrink-0">
      Benchmark run
    </TextLink>
  )
}
