'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Camera, CircleCheck, Info, Play } from 'lucide-react'
import { alertName, isAboutDevbox } from '#components/alerts/alert-feed.ts'
import { alertQueries } from '#components/alerts/queries.ts'
import { devboxMutations, devboxQueries } from '#components/devboxes/queries.ts'
import { Badge } from '#components/ui/badge.tsx'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { RelativeTime, useShownZone } from '#components/ui/relative-time.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { formatInput } from '#components/ui/time-text.ts'
import { toast } from '#components/ui/toast.tsx'
import { useShownError } from '#components/ui/use-shown-error.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatCountOf, formatDurationMs } from '#lib/browser/format.ts'
import { serviceNow } from '#lib/client/clock.ts'
import { resumeRefusal } from '#lib/contract/devboxes.ts'
import { alertKindLabels } from '#lib/protocol/alert-labels.ts'
import { isPractice, occurredMs } from '#lib/protocol/alert-outcomes.ts'
import type { AlertRecap, RecapPart } from '#lib/protocol/alert-recap.ts'
import type { Alert } from '#lib/protocol/alerts.ts'
import { useLastVisit } from './last-visit.ts'

/** Evictions, losses and outages since this browser last showed the overview. */
export const Recap = ({ account }: { account: string }) => {
  const visit = useLastVisit(account)
  const query = useQuery({ ...alertQueries.recap(visit?.since_ms ?? undefined), enabled: visit !== undefined })
  const error = useShownError(query)
  const zone = useShownZone()
  const recap = query.data
  return (
    <section aria-labelledby="recap" className="mb-8">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 border-b border-line pb-2">
        <h2 id="recap" className="text-lg font-medium">
          Since you last looked
        </h2>
        {recap && (
          <TextLink href={paths.shiftReport({ from_ms: recap.from_ms })} className="text-sm" prefetch={false}>
            Shift report since {shortTime(recap.from_ms, zone)}
          </TextLink>
        )}
      </div>
      {recap ? (
        <Parts recap={recap} since={shortTime(recap.from_ms, zone)} />
      ) : error ? (
        <ErrorState compact title="Recent alerts could not be loaded" error={error} query={query} />
      ) : (
        <p className="py-2 text-muted">Loading</p>
      )}
    </section>
  )
}

/** "18:02", with its day unless that is today. */
const shortTime = (ms: number, zone: string): string => {
  const [day, time] = formatInput(ms, zone).split('T')
  return day === formatInput(serviceNow(), zone).split('T')[0] ? `${time}` : `${day} ${time}`
}

const partTitles: Record<Exclude<RecapPart, 'practice'>, string> = {
  unattended: 'Evicted unacknowledged',
  attended: 'Evicted, acknowledged',
  lost: 'Failed or shut down',
  outages: "Console couldn't see evictions",
}
const mainParts = ['unattended', 'attended', 'lost', 'outages'] as const

const historyOf = (part: RecapPart, from_ms: number): string => {
  if (part === 'unattended') return paths.evictionHistory({ from_ms, kind: 'eviction', outcome: 'unattended' })
  if (part === 'attended') return paths.evictionHistory({ from_ms, kind: 'eviction', state: 'ended' })
  return paths.evictionHistory({ from_ms, ...(part === 'outages' && { kind: 'watch' }) })
}

const Parts = ({ recap: { parts, others, from_ms }, since }: { recap: AlertRecap; since: string }) => {
  const isQuiet = mainParts.every((part) => parts[part].count === 0)
  return (
    <>
      {isQuiet && (
        <p className="flex items-center gap-2 py-2 text-muted">
          <CircleCheck aria-hidden className="size-4 text-ok" />
          {others === 0 ? 'Nothing happened' : 'No evictions, failures or outages'} since {since}
        </p>
      )}
      {mainParts.map((part) => (
        <Part
          key={part}
          title={partTitles[part]}
          isLoss={part === 'unattended' || part === 'lost'}
          history={historyOf(part, from_ms)}
          {...parts[part]}
        />
      ))}
      {others > 0 && (
        <p className="pt-2 text-sm">
          <TextLink href={paths.evictionHistory({ from_ms })} prefetch={false}>
            {formatCountOf(others, 'other alert')} closed
          </TextLink>
        </p>
      )}
      {parts.practice.count > 0 && (
        <details className="pt-2">
          <summary className="cursor-pointer text-sm text-muted">
            {formatCountOf(parts.practice.count, 'drill or test alert', 'drills and test alerts')}
          </summary>
          <Rows history={historyOf('practice', from_ms)} {...parts.practice} />
        </details>
      )}
    </>
  )
}

interface PartProps {
  title: string
  isLoss: boolean
  history: string
  count: number
  alerts: readonly Alert[]
}

const Part = ({ title, isLoss, ...rows }: PartProps) =>
  rows.count > 0 && (
    <div className="pt-2">
      <h3 className="flex items-baseline gap-2 text-sm text-muted">
        {title}{' '}
        <span className={isLoss ? 'tabular font-semibold text-danger' : 'tabular'}>{formatCount(rows.count)}</span>
      </h3>
      <Rows {...rows} />
    </div>
  )

const Rows = ({ count, alerts, history }: Omit<PartProps, 'title' | 'isLoss'>) => (
  <>
    <ul>
      {alerts.map((alert) => (
        <Row key={alert.id} alert={alert} />
      ))}
    </ul>
    {count > alerts.length && (
      <p className="pt-1 text-sm">
        <TextLink href={history} prefetch={false}>
          {alerts.length} of {formatCount(count)} shown
        </TextLink>
      </p>
    )}
  </>
)

const Row = ({ alert }: { alert: Alert }) => {
  const { id, kind, devbox_id, acknowledged_by, closed_ms, deadline_ms, watch, work } = alert
  const name = <VisibleText max={60}>{watch ? watch.detail : alertName(alert)}</VisibleText>
  return (
    <li className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-1 py-1">
      <span className="min-w-0 flex-1 basis-48 font-medium">
        {isAboutDevbox(alert) ? (
          <TextLink href={paths.devbox(devbox_id)} prefetch={false} className="wrap-anywhere text-text">
            {name}
          </TextLink>
        ) : (
          name
        )}
      </span>
      {(kind === 'end' || kind === 'failure' || isPractice(alert)) && (
        <Badge tone={isPractice(alert) ? 'neutral' : 'danger'}>
          {kind === 'end' ? 'Disk deleted' : alert.is_drill ? 'Drill' : alertKindLabels[kind]}
        </Badge>
      )}
      {work && work.commands > 0 && <Badge tone="danger">{formatCountOf(work.commands, 'command')} interrupted</Badge>}
      {acknowledged_by !== null && (
        <span className="min-w-0 text-muted">
          <VisibleText max={60}>{acknowledged_by}</VisibleText>
        </span>
      )}
      {watch && closed_ms !== null && (
        <span className="text-muted">for {formatDurationMs(Math.max(0, closed_ms - deadline_ms))}</span>
      )}
      <RelativeTime ms={occurredMs(alert)} className="text-muted sm:w-20 sm:text-right" />
      <span className="flex items-center gap-1 max-sm:-ml-2 max-sm:basis-full">
        {isAboutDevbox(alert) && <DevboxActions alert={alert} />}
        <ButtonLink size="sm" variant="ghost" icon={Info} href={paths.alert(id)} prefetch={false}>
          Details
        </ButtonLink>
      </span>
    </li>
  )
}

const DevboxActions = ({ alert }: { alert: Alert }) => {
  const { devbox_id } = alert
  const { data: devbox } = useQuery({ ...devboxQueries.get(devbox_id), refetchInterval: false })
  const resume = useMutation(devboxMutations.resume())
  const name = alertName(alert)
  return (
    <>
      {devbox && !resumeRefusal(devbox) && (
        <Button
          size="sm"
          variant="ghost"
          icon={Play}
          needs="devboxes.resume"
          busy={resume.isPending}
          aria-label={`Resume ${name}`}
          onClick={() => resume.mutate(devbox_id, { onError: toast.failed(`Couldn't resume ${name}`) })}
        >
          Resume
        </Button>
      )}
      <ButtonLink
        size="sm"
        variant="ghost"
        icon={Camera}
        href={paths.snapshots({ devbox_id })}
        prefetch={false}
        aria-label={`Snapshots of ${name}`}
      >
        Snapshots
      </ButtonLink>
    </>
  )
}
