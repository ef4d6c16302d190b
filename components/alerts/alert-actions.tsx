'use client'
import { useMutation } from '@tanstack/react-query'
import {
  Ban,
  BellOff,
  Camera,
  Copy,
  Download,
  Ellipsis,
  Info,
  MessageSquare,
  Pause,
  RefreshCw,
  SquareTerminal,
  Undo2,
  UserRoundCheck,
  UserRoundPlus,
} from 'lucide-react'
import { useState } from 'react'
import { devboxMutations } from '#components/devboxes/queries.ts'
import { downloadHome } from '#components/files/file-download.ts'
import { snapshotMutations } from '#components/snapshots/queries.ts'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { toast } from '#components/ui/toast.tsx'
import { writeClipboard } from '#components/ui/use-copy.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { type Alert, alertText, isOpen } from '#lib/protocol/alerts.ts'
import { alertName } from './alert-feed.ts'
import { runOnEach } from './bulk-run.tsx'
import { isHeldBy, useOwnLabel } from './people/own-name.ts'
import { useAcknowledge, useAlertDialogs, useTakeOver, useUndo } from './people/use-ownership.tsx'
import { alertMutations } from './queries.ts'
import { useRescue } from './use-rescue.ts'

export const newOf = (alerts: readonly Alert[]) => alerts.filter(({ state }) => state === 'new')

/** One alert per devbox that still runs. */
export const devboxesOf = (alerts: readonly Alert[]): Alert[] => [
  ...new Map(alerts.filter(isRunning).map((alert) => [alert.devbox_id, alert])).values(),
]

export const isRunning = ({ kind }: Alert) => kind === 'eviction' || kind === 'end'

export const useAlertActions = () => {
  const { acknowledge } = useAcknowledge()
  const undo = useUndo()
  const takeOver = useTakeOver()
  const { handOver, comment, dialog } = useAlertDialogs()
  const snapshot = useMutation(snapshotMutations.create())
  const suspend = useMutation(devboxMutations.suspend())
  const cancel = useMutation(alertMutations.endDrill())
  const [suspending, setSuspending] = useState<readonly Alert[]>()
  const suspendLabel =
    suspending?.length === 1
      ? 'Suspend devbox'
      : `Suspend ${formatCountOf(suspending?.length ?? 0, 'devbox', 'devboxes')}`
  return {
    acknowledge,
    undo,
    takeOver,
    handOver,
    comment,
    snapshot: (alerts: readonly Alert[]) =>
      void runOnEach(bulkTexts.snapshot, devboxesOf(alerts), (devboxId) =>
        snapshot.mutateAsync({ devboxId, name: 'before-eviction', metadata: { reason: 'eviction' } }),
      ),
    suspend: (alerts: readonly Alert[]) => setSuspending(devboxesOf(alerts)),
    downloadHome: (alert: Alert) => {
      toast.info(`Preparing the home folder of ${alertName(alert)}`)
      downloadHome(alert.devbox_id).catch(toast.failed("Couldn't download the home folder"))
    },
    cancel: (alert: Alert) =>
      cancel.mutate(alert.devbox_id, {
        onSuccess: () => toast.ok(`Eviction of ${alertName(alert)} canceled`),
        onError: toast.failed("Couldn't cancel the eviction"),
      }),
    dialog: suspending ? (
      <ConfirmDialog
        open
        onOpenChange={(isOpen) => !isOpen && setSuspending(undefined)}
        title={`${suspendLabel}?`}
        consequence={
          suspending.length === 1
            ? 'Its processes and terminals end now. Its disk is kept, and you can resume it later.'
            : `The processes and terminals of ${formatCount(suspending.length)} devboxes end now. Their disks are kept, and you can resume them later.`
        }
        needs="devboxes.suspend"
        confirmLabel={suspendLabel}
        tone="primary"
        onConfirm={() => {
          setSuspending(undefined)
          void runOnEach(bulkTexts.suspend, suspending, (id) => suspend.mutateAsync(id))
        }}
      />
    ) : (
      dialog
    ),
  }
}

const bulkTexts = {
  snapshot: {
    done: 'Snapshot started',
    failed: "Couldn't take the snapshot",
    result: 'snapshots started',
  },
  suspend: {
    done: 'Suspending',
    failed: "Couldn't suspend the devbox",
    result: 'devboxes suspending',
  },
} as const

interface AlertMenuProps {
  alert: Alert
  actions: ReturnType<typeof useAlertActions>
  isLocal: boolean
  onSilence: () => void
  /** Whether the menu is on the alert's own page. */
  isOnPage?: boolean
}

export const AlertMenu = ({ alert, actions, isLocal, onSilence, isOnPage = false }: AlertMenuProps) => {
  const name = alertName(alert)
  const { keepAlive } = useRescue()
  const own = useOwnLabel()
  const closed = isOpen(alert) ? null : 'This alert is closed'
  const noDevbox = closed ?? (isRunning(alert) ? null : noDevboxReason(alert))
  return (
    <DropdownMenu
      label={`Actions for ${name}`}
      isOverflow={isOnPage}
      trigger={<IconButton size={isOnPage ? 'md' : 'sm'} icon={Ellipsis} label={`More actions for ${name}`} />}
      items={[
        ...(isOnPage
          ? []
          : [
              { label: 'Details', icon: Info, href: paths.alert(alert.id) },
              ...(alert.state === 'acknowledged' && !isHeldBy(own, alert)
                ? [
                    {
                      label: 'Take over',
                      needs: '/api/alerts' as const,
                      icon: UserRoundCheck,
                      onSelect: () => actions.takeOver([alert]),
                    },
                  ]
                : []),
              ...(alert.state === 'acknowledged'
                ? [
                    {
                      label: 'Undo acknowledgment',
                      needs: '/api/alerts' as const,
                      icon: Undo2,
                      onSelect: () => actions.undo([alert]),
                    },
                  ]
                : []),
              {
                label: 'Hand over',
                needs: '/api/alerts' as const,
                icon: UserRoundPlus,
                onSelect: () => actions.handOver([alert]),
              },
              {
                label: 'Comment',
                needs: '/api/alerts' as const,
                icon: MessageSquare,
                onSelect: () => actions.comment([alert]),
              },
              'separator' as const,
            ]),
        ...(alert.end?.cause === 'keep_alive'
          ? [
              {
                label: 'Keep alive',
                needs: 'devboxes.keepAlive' as const,
                icon: RefreshCw,
                disabledReason: closed,
                onSelect: () => keepAlive(alert.devbox_id),
              },
            ]
          : []),
        {
          label: 'Open terminal',
          icon: SquareTerminal,
          href: paths.devbox(alert.devbox_id, 'terminal'),
          disabledReason: noDevbox,
        },
        {
          label: 'Take snapshot now',
          needs: 'snapshots.createAsync' as const,
          icon: Camera,
          disabledReason: noDevbox,
          onSelect: () => actions.snapshot([alert]),
        },
        {
          label: 'Suspend now',
          needs: 'devboxes.suspend' as const,
          icon: Pause,
          disabledReason: noDevbox,
          onSelect: () => actions.suspend([alert]),
        },
        {
          label: 'Download home folder',
          needs: 'executions.executeSync' as const,
          icon: Download,
          disabledReason: noDevbox,
          onSelect: () => actions.downloadHome(alert),
        },
        ...(alert.kind === 'eviction'
          ? [
              {
                label: alert.is_drill ? 'Cancel drill' : 'Cancel eviction',
                needs: '/api/alerts' as const,
                icon: Ban,
                disabledReason: closed ?? (isLocal ? null : 'Only the local service can cancel evictions'),
                onSelect: () => actions.cancel(alert),
              },
            ]
          : []),
        'separator',
        {
          label: 'Silence by metadata',
          needs: '/api/alerts' as const,
          icon: BellOff,
          disabledReason: Object.keys(alert.metadata).length === 0 ? 'The devbox has no metadata' : null,
          onSelect: onSilence,
        },
        {
          label: 'Copy as message',
          icon: Copy,
          onSelect: () =>
            void writeClipboard(alertText(alert, location.origin + paths.alert(alert.id))).then((isCopied) =>
              isCopied ? toast.ok('Copied') : toast.danger('The browser blocked copying'),
            ),
        },
      ]}
    />
  )
}

const noDevboxReason = ({ kind }: Alert) =>
  kind === 'failure' ? 'The devbox is no longer running' : 'This alert has no devbox'
