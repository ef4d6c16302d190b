'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { BellRing, ChevronRight, Ellipsis, Pause, Pencil, Play, Plus, RotateCw, Trash2 } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { Badge } from '#components/ui/badge.tsx'
import { Button } from '#components/ui/button.tsx'
import { classes } from '#components/ui/classes.ts'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { toast } from '#components/ui/toast.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { Delivery, Receiver } from '#lib/protocol/alerts.ts'
import { Countdown } from '../countdown.tsx'
import { Deliveries } from './deliveries.tsx'
import { receiverMutations, receiverQueries } from './queries.ts'
import { filterText, formatLabels, isHeldBack, receiverState } from './receiver-text.ts'

const ReceiverDialog = dynamic(async () => (await import('./receiver-dialog.tsx')).ReceiverDialog)

export const Receivers = () => {
  const query = useQuery(receiverQueries.list())
  const [edited, setEdited] = useState<Receiver | 'new'>()
  const { data, error } = query
  return (
    <section aria-labelledby="receivers" className="mt-8 space-y-2">
      <div className="flex items-center justify-between gap-3">
        <h2 id="receivers" className="text-lg font-medium">
          Receivers
        </h2>
        <Button
          size="sm"
          icon={Plus}
          needs="/api/alerts/receivers"
          disabledReason={data ? data.add_refusal : 'loading'}
          onClick={() => setEdited('new')}
        >
          Add receiver
        </Button>
      </div>
      <p className="max-w-prose text-muted">
        Chats, pagers and endpoints that get alerts even with no page open. Messages are stored before they are sent,
        and retried even after a restart.
      </p>
      {!data && error && <ErrorState compact title="Receivers could not be loaded" error={error} query={query} />}
      {data?.receivers.length === 0 && (
        <p className="border-y border-line py-3 text-muted">
          None. Until you add one, alerts only reach open pages. With a heartbeat receiver, your monitor also raises the
          alarm if the console itself stops.
        </p>
      )}
      {data && data.receivers.length > 0 && !data.watches_alone && (
        <p className="text-attention">
          Alerts are only sent while a page of this account is open. Set DEVDECK_WEBHOOK_API_KEY to send them at any
          time.
        </p>
      )}
      {data && data.receivers.length > 0 && (
        <ul className="border-t border-line">
          {data.receivers.map((receiver) => (
            <ReceiverRow
              key={receiver.id}
              receiver={receiver}
              refusal={data.add_refusal}
              onEdit={() => setEdited(receiver)}
            />
          ))}
        </ul>
      )}
      {edited && (
        <ReceiverDialog receiver={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />
      )}
    </section>
  )
}

interface ReceiverRowProps {
  receiver: Receiver
  /** Why this account can't change receivers. */
  refusal: string | null
  onEdit: () => void
}

const ReceiverRow = ({ receiver, refusal, onEdit }: ReceiverRowProps) => {
  const { id, name, deliveries, waiting, is_paused } = receiver
  const [isOpen, setIsOpen] = useState(false)
  const [isDeleting, setIsDeleting] = useState(false)
  const test = useMutation({ ...receiverMutations.test(), onError: toast.failed("Couldn't send a test message") })
  const retry = useMutation({ ...receiverMutations.retry(), onError: toast.failed("Couldn't retry") })
  const change = useMutation({ ...receiverMutations.change(), onError: toast.failed("Couldn't change the receiver") })
  const remove = useMutation(receiverMutations.remove())
  const readOnly = readOnlyReason(receiver) ?? refusal
  const [tone, state] = receiverState(receiver)
  const [latest] = deliveries
  return (
    <li className="border-b border-line">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 py-2">
        <div className="min-w-0 flex-1 basis-64">
          <div className="flex min-w-0 items-center gap-2">
            <button
              type="button"
              aria-expanded={isOpen}
              onClick={() => setIsOpen(!isOpen)}
              className="flex min-w-0 items-center gap-1.5 font-medium hover:underline"
            >
              <ChevronRight aria-hidden className={classes('size-4 shrink-0', isOpen && 'rotate-90')} />
              <VisibleText truncate max={100}>
                {name}
              </VisibleText>
            </button>
            <Badge tone={tone}>{state}</Badge>
          </div>
          <Summary receiver={receiver} />
        </div>
        <div className="flex flex-wrap items-center gap-2 max-sm:w-full max-sm:pl-5.5">
          {latest && <RelativeTime ms={latest.at_ms} prefix="last message" className="mr-1 text-sm text-muted" />}
          {waiting > 0 && !is_paused && (
            <Button
              size="sm"
              icon={RotateCw}
              needs="/api/alerts/receivers"
              busy={retry.isPending}
              onClick={() => retry.mutate(id)}
            >
              Retry now
            </Button>
          )}
          <Button
            size="sm"
            icon={BellRing}
            needs="/api/alerts/receivers"
            busy={test.isPending}
            onClick={() => {
              setIsOpen(true)
              test.mutate(id, { onSuccess: announceTest })
            }}
          >
            Test
          </Button>
          <DropdownMenu
            label={`Actions for ${name}`}
            trigger={<IconButton size="sm" icon={Ellipsis} label={`More actions for ${name}`} />}
            items={[
              {
                label: is_paused ? 'Resume' : 'Pause',
                needs: '/api/alerts/receivers',
                icon: is_paused ? Play : Pause,
                disabledReason: readOnly,
                onSelect: () => change.mutate({ id, is_paused: !is_paused }),
              },
              {
                label: 'Edit',
                needs: '/api/alerts/receivers',
                icon: Pencil,
                disabledReason: readOnly,
                onSelect: onEdit,
              },
              'separator',
              {
                label: 'Delete',
                needs: '/api/alerts/receivers',
                icon: Trash2,
                tone: 'danger',
                disabledReason: readOnly,
                onSelect: () => setIsDeleting(true),
              },
            ]}
          />
        </div>
      </div>
      {isOpen && <Deliveries receiver={receiver} />}
      <ConfirmDialog
        open={isDeleting}
        onOpenChange={setIsDeleting}
        title="Delete this receiver?"
        consequence={
          <>
            <VisibleText max={100}>{name}</VisibleText> gets no more alerts
            {waiting > 0 && `, and ${waiting} waiting ${waiting === 1 ? 'message is' : 'messages are'} discarded`}.
          </>
        }
        needs="/api/alerts/receivers"
        confirmLabel="Delete receiver"
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(id)}
      />
    </li>
  )
}

const announceTest = ({ state, answer }: Delivery) =>
  state === 'delivered'
    ? toast.ok('Test message delivered')
    : toast.danger("The test message wasn't delivered", { description: answer })

const readOnlyReason = ({ source }: Receiver): string | null => {
  if (source === 'environment') return 'Set by DEVDECK_WEBHOOK_URL'
  return source === 'file' ? 'Set in the file named by DEVDECK_RECEIVERS' : null
}

const Summary = ({ receiver }: { receiver: Receiver }) => {
  const { format, host, failure, waiting, next_try_ms, is_paused } = receiver
  const origin = readOnlyReason(receiver)
  const isTrying = useClock((nowMs) => next_try_ms !== null && next_try_ms <= nowMs)
  return (
    <div className="pl-5.5 text-sm wrap-anywhere">
      <p className="text-muted">
        {formatLabels[format]} to <VisibleText max={120}>{host}</VisibleText>:{' '}
        <VisibleText max={200}>{filterText(receiver)}</VisibleText>
        {origin && `. ${origin}.`}
      </p>
      {isHeldBack(receiver) && <p className="text-attention">Stopped while the console can't see evictions</p>}
      {failure && (
        <p className="text-danger">
          Failing since <RelativeTime ms={failure.since_ms} />: <VisibleText max={200}>{failure.answer}</VisibleText>
        </p>
      )}
      {failure && waiting > 0 && !is_paused && (
        <p className="text-muted">
          {waiting} waiting
          {isTrying && ', trying now'}
          {next_try_ms !== null && !isTrying && (
            <>
              , next try in <Countdown deadlineMs={next_try_ms} />
            </>
          )}
        </p>
      )}
    </div>
  )
}
