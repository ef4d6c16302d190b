'use client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { BellRing } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Badge } from '#components/ui/badge.tsx'
import { Button } from '#components/ui/button.tsx'
import { Check } from '#components/ui/choice/check.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { serviceNow } from '#lib/client/clock.ts'
import type { PushSubscriptionView } from '#lib/protocol/push.ts'
import { ownPushId, pushRefusal, turnOnPush, unsubscribePush } from './push-browser.ts'
import { pushMutations, pushQueries } from './queries.ts'

/** Push notifications of the account: in this browser, and where else they are on. */
export const PushAlerts = () => {
  const list = useQuery(pushQueries.list())
  const [own, setOwn] = useState<string | null>(null)
  const [refusal, setRefusal] = useState<ReturnType<typeof pushRefusal>>(null)
  const subscriptions = list.data?.subscriptions ?? []
  // biome-ignore lint/correctness/useExhaustiveDependencies: the browser may have subscribed since the last response
  useEffect(() => {
    setRefusal(pushRefusal())
    void ownPushId().then(setOwn)
  }, [list.data])
  const removeAll = useMutation({ ...pushMutations.removeAll(), onError: toast.failed("Couldn't turn off push") })
  if (list.error && !list.data)
    return <ErrorState compact title="Push notifications could not be loaded" error={list.error} query={list} />
  const isOn = subscriptions.some(({ id }) => id === own)
  return (
    <section aria-labelledby="push" className="space-y-2">
      <h2 id="push" className="text-lg font-medium">
        Push notifications
      </h2>
      <p className="text-muted">
        Announce alerts while no Devdeck tab is open. Without names, a message contains only the event and the number of
        devboxes. Push stops when the browser signs out.
      </p>
      {list.data && !isOn && <TurnOn publicKey={list.data.public_key} refusal={refusal} />}
      {subscriptions.length > 0 && (
        <ul>
          {subscriptions.map((each) => (
            <Subscription key={each.id} subscription={each} isOwn={each.id === own} />
          ))}
        </ul>
      )}
      {subscriptions.length > 1 && (
        <Button size="sm" needs="/api/alerts/push" busy={removeAll.isPending} onClick={() => removeAll.mutate()}>
          Turn off in all {subscriptions.length} browsers
        </Button>
      )}
    </section>
  )
}

const TurnOn = ({ publicKey, refusal }: { publicKey: string; refusal: ReturnType<typeof pushRefusal> }) => {
  const client = useQueryClient()
  const [showsNames, setShowsNames] = useState(false)
  const turnOn = useMutation({
    mutationFn: () => turnOnPush(publicKey, showsNames),
    onSettled: () => client.invalidateQueries(pushQueries.list()),
  })
  if (refusal?.is === 'unavailable') return <p className="text-muted">Not available. {refusal.why}</p>
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Button
          size="sm"
          icon={BellRing}
          needs="/api/alerts/push"
          busy={turnOn.isPending}
          onClick={() => turnOn.mutate()}
        >
          Turn on push in this browser
        </Button>
        <Check small label="Show names" needs="/api/alerts/push" checked={showsNames} onCheck={setShowsNames} />
      </div>
      {turnOn.error ? (
        <p role="alert" className="text-sm text-danger">
          {problemOf(turnOn.error).message}
        </p>
      ) : (
        refusal && <p className="text-sm text-muted">{refusal.why}</p>
      )}
    </>
  )
}

const Subscription = ({ subscription, isOwn }: { subscription: PushSubscriptionView; isOwn: boolean }) => {
  const { id, browser, person, created_ms, expires_ms, shows_names } = subscription
  const change = useMutation({ ...pushMutations.change(), onError: toast.failed("Couldn't change push") })
  const remove = useMutation({
    ...pushMutations.remove(),
    onSuccess: () => (isOwn ? unsubscribePush() : undefined),
    onError: toast.failed("Couldn't turn off push"),
  })
  const test = useMutation({
    ...pushMutations.test(),
    onSuccess: ({ is_delivered, answer }) =>
      is_delivered
        ? toast.ok('Test push sent', { description: "It isn't shown while a Devdeck tab is visible." })
        : toast.attention("The push service didn't accept the test", { description: answer }),
    onError: toast.failed("Couldn't send a test push"),
  })
  const isPaused = serviceNow() >= expires_ms
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line py-2">
      <span className="min-w-0 flex-1 basis-56">
        <span className="font-medium">{browser}</span> {isOwn && <Badge tone="ok">This browser</Badge>}
        {isPaused && <Badge tone="attention">Paused until it signs in</Badge>}
        <span className="block text-sm text-muted">
          <VisibleText max={60}>{person}</VisibleText>, since <RelativeTime ms={created_ms} />
          {'. '}
          <LastDelivery subscription={subscription} />
        </span>
      </span>
      <Check
        small
        label="Show names"
        needs="/api/alerts/push"
        checked={shows_names}
        onCheck={(next) => change.mutate({ id, shows_names: next })}
      />
      <Button size="sm" needs="/api/alerts/push" busy={test.isPending} onClick={() => test.mutate(id)}>
        Test
      </Button>
      <Button size="sm" needs="/api/alerts/push" busy={remove.isPending} onClick={() => remove.mutate(id)}>
        Turn off
      </Button>
    </li>
  )
}

const LastDelivery = ({ subscription: { last, waiting } }: { subscription: PushSubscriptionView }) => {
  if (!last) return waiting > 0 ? `${waiting} waiting` : 'Nothing sent yet'
  return (
    <>
      {last.is_delivered ? 'Delivered' : `Failed (${last.answer})`} <RelativeTime ms={last.at_ms} />
      {waiting > 0 && `, ${waiting} waiting`}
    </>
  )
}
