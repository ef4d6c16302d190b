'use client'
import { useMutation } from '@tanstack/react-query'
import { Camera, Clock, type LucideIcon, Pause, Play, Power, Square, X } from 'lucide-react'
import { useRef, useState } from 'react'
import { actOnEach } from '#components/list/act-on-each.ts'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/console/frame/format.ts'
import { devboxMutations } from '#lib/console/queries/devboxes.ts'
import { snapshotMutations } from '#lib/console/queries/snapshots.ts'
import { type Devbox, devboxRefusal, hasEnded } from '#lib/contract/devboxes.ts'

const actions = ['resume', 'keep_alive', 'snapshot', 'suspend', 'shutdown'] as const
type Action = (typeof actions)[number]

interface Look {
  icon: LucideIcon
  verb: string
  done: string
  failed: string
  /** What it costs, for actions that ask first. */
  consequence?: (count: string) => string
}

const looks: Record<Action, Look> = {
  resume: { icon: Play, verb: 'Resume', done: 'Resuming', failed: 'Not every devbox was resumed' },
  keep_alive: {
    icon: Clock,
    verb: 'Keep alive',
    done: 'Keep-alive time started anew',
    failed: 'Not every keep-alive time was extended',
  },
  snapshot: { icon: Camera, verb: 'Snapshot', done: 'Snapshots begun', failed: 'Not every snapshot was begun' },
  suspend: {
    icon: Pause,
    verb: 'Suspend',
    done: 'Suspending',
    failed: 'Not every devbox was suspended',
    consequence: (count) =>
      `The processes and terminals of ${count} end now. Their disks stay, and they can be resumed.`,
  },
  shutdown: {
    icon: Power,
    verb: 'Shut down',
    done: 'Shutting down',
    failed: 'Not every devbox was shut down',
    consequence: (count) =>
      `The processes and terminals of ${count} end now and their disks are deleted. They cannot be started again.`,
  },
}

const isEligible = (action: Action, { status }: Devbox) =>
  devboxRefusal(action, status) === null && !(action === 'shutdown' && hasEnded(status))

const devboxCount = (count: number) => (count === 1 ? '1 devbox' : `${formatCount(count)} devboxes`)
/** Names that a question lists before it only counts. */
const mostNamed = 5

interface DevboxSelectionProps {
  devboxes: readonly Devbox[]
  onClear: () => void
}

/** What can be done to the devboxes that are selected: each action with the number of those whose state allows it. */
export const DevboxSelection = ({ devboxes, onClear }: DevboxSelectionProps) => {
  const [asking, setAsking] = useState<{ action: Action; devboxes: readonly Devbox[] }>()
  const [underWay, setUnderWay] = useState<{ action: Action; behind: number; of: number }>()
  const isStopped = useRef(false)
  const acts: Record<Action, (id: string) => Promise<unknown>> = {
    suspend: useMutation(devboxMutations.suspend()).mutateAsync,
    resume: useMutation(devboxMutations.resume()).mutateAsync,
    shutdown: useMutation(devboxMutations.shutdown()).mutateAsync,
    keep_alive: useMutation(devboxMutations.keepAlive()).mutateAsync,
    snapshot: useSnapshot(),
  }
  const start = async (action: Action, of: readonly Devbox[]) => {
    isStopped.current = false
    const onNext = (behind: number) => {
      setUnderWay({ action, behind, of: of.length })
      return !isStopped.current
    }
    await actOnEach(
      looks[action],
      of.map(({ id }) => id),
      acts[action],
      onNext,
    )
    setUnderWay(undefined)
  }
  return (
    <section
      aria-label="Selected devboxes"
      className="animate-appear sticky bottom-3 z-10 mx-auto mt-3 flex w-fit max-w-full flex-wrap items-center gap-1 rounded-md bg-overlay py-1 pr-1 pl-3 shadow-overlay"
    >
      <p role="status" className="tabular mr-2 font-medium">
        {underWay
          ? `${looks[underWay.action].verb}: ${underWay.behind} of ${underWay.of}`
          : `${formatCount(devboxes.length)} selected`}
      </p>
      {underWay ? (
        <Button
          size="sm"
          icon={Square}
          onClick={() => {
            isStopped.current = true
          }}
        >
          Stop after this one
        </Button>
      ) : (
        actions.map((action) => {
          const { icon, verb, consequence } = looks[action]
          const eligible = devboxes.filter((devbox) => isEligible(action, devbox))
          return (
            <Button
              key={action}
              size="sm"
              icon={icon}
              disabledReason={eligible.length === 0 ? 'No devbox of these is in a state for it' : null}
              onClick={() => (consequence ? setAsking({ action, devboxes: eligible }) : void start(action, eligible))}
            >
              {verb} {formatCount(eligible.length)}
            </Button>
          )
        })
      )}
      <Button size="sm" variant="ghost" icon={X} onClick={onClear}>
        Clear selection
      </Button>
      {asking && (
        <ConfirmDialog
          open
          onOpenChange={(isOpen) => !isOpen && setAsking(undefined)}
          title={`${looks[asking.action].verb} ${devboxCount(asking.devboxes.length)}?`}
          consequence={
            <>
              <ul className="font-medium">
                {asking.devboxes.slice(0, mostNamed).map(({ id, name }) => (
                  <li key={id}>
                    <VisibleText max={120}>{name || id}</VisibleText>
                  </li>
                ))}
                {asking.devboxes.length > mostNamed && <li>and {asking.devboxes.length - mostNamed} more</li>}
              </ul>
              <p>{looks[asking.action].consequence?.(devboxCount(asking.devboxes.length))}</p>
              {asking.devboxes.length < devboxes.length && (
                <p>
                  {devboxes.length - asking.devboxes.length} of the {devboxes.length} selected: in no state for it, left
                  as they are.
                </p>
              )}
            </>
          }
          confirmLabel={`${looks[asking.action].verb} ${devboxCount(asking.devboxes.length)}`}
          tone={asking.action === 'shutdown' ? 'danger' : 'primary'}
          onConfirm={() => {
            setAsking(undefined)
            void start(asking.action, asking.devboxes)
          }}
        />
      )}
    </section>
  )
}

const useSnapshot = () => {
  const { mutateAsync } = useMutation(snapshotMutations.create())
  return (devboxId: string) => mutateAsync({ devboxId })
}
