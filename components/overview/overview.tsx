'use client'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import Link from 'next/link'
import type { ReactNode } from 'react'
import { pendingEvictions, timeLeftMs } from '#components/alerts/alert-feed.ts'
import { Countdown } from '#components/alerts/countdown.tsx'
import { alertQueries } from '#components/alerts/queries.ts'
import { agentRows, progressOf, shortEta } from '#components/benchmarks/job-figures.ts'
import { Progress } from '#components/benchmarks/score.tsx'
import { CreateDevbox } from '#components/devboxes/create/create-devbox-button.tsx'
import { devboxesPath } from '#components/devboxes/search-params.ts'
import { DevboxStatusBadge } from '#components/devboxes/status.tsx'
import { type TimeLeft, TimeLeftText, timeLeftOf } from '#components/devboxes/time-left.tsx'
import { CodeSample } from '#components/layout/code-samples.tsx'
import { StaleNotice } from '#components/list/stale-notice.tsx'
import { classes } from '#components/ui/classes.ts'
import { ErrorState } from '#components/ui/error-state.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { useShownError } from '#components/ui/use-shown-error.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { isTransient } from '#lib/browser/api/failures.ts'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import type { Axon } from '#lib/contract/axons.ts'
import { type BenchmarkJob, isJobActive } from '#lib/contract/benchmark-jobs.ts'
import { type Devbox, hasEnded, isOfTrial } from '#lib/contract/devboxes.ts'
import type { Alert } from '#lib/protocol/alerts.ts'
import type { DemoView } from '#lib/protocol/demo.ts'
import { Attention, Item } from './attention.tsx'
import { DemoData } from './demo-data.tsx'
import { demoQueries } from './demo-queries.ts'
import { FirstRun } from './first-run.tsx'
import { overviewQueries } from './queries.ts'
import { Recap } from './recap.tsx'

const shownRows = 6

interface OverviewProps {
  serviceUrl: string
  account: string
  demo: DemoView
}

export const Overview = ({ serviceUrl, account, demo: initialData }: OverviewProps) => {
  const devboxes = useInfiniteQuery(overviewQueries.devboxes())
  const { data: demo } = useQuery({ ...demoQueries.view(), initialData })
  return (
    <>
      <PageHeader title="Overview" actions={<CreateDevbox />} />
      <StaleNotice query={devboxes} />
      <FirstRun account={account} demo={demo} />
      <DemoData demo={demo} />
      <Attention />
      <Recap account={account} />
      <Figures />
      <RunningJobs />
      <div className="mt-8 grid grid-cols-1 gap-x-10 gap-y-8 lg:grid-cols-2">
        <OwnDevboxes />
        <AxonActivity />
      </div>
      <Section title="Use the API" className="mt-8 max-w-3xl">
        <p className="pt-2 pb-3 text-muted">
          The console uses a public API. The service listens at{' '}
          <code className="font-mono text-text">{serviceUrl}</code>.
        </p>
        <CodeSample
          serviceUrl={serviceUrl}
          call={{
            path: '/v1/devboxes',
            method: 'devboxes.create',
            body: { name: 'from-a-script', metadata: { env: 'dev' } },
            result: 'devbox',
          }}
        />
      </Section>
    </>
  )
}

const devboxFigures = [
  { count: 'running', label: 'Devboxes running', query: { status: 'running' } },
  { count: 'moving', label: 'Devboxes in transition', query: {} },
  { count: 'suspended', label: 'Devboxes suspended', query: { status: 'suspended' } },
  { count: 'failed', label: 'Devboxes failed', query: { status: 'failure' }, tone: 'danger' },
] as const

/** Totals of the account, excluding trial devboxes. */
const Figures = () => {
  const { data: totals } = useQuery(overviewQueries.totals())
  const axons = useInfiniteQuery(overviewQueries.axons())
  const axonPage = axons.data?.pages[0]
  const { data: feed } = useQuery(alertQueries.feed())
  const evictions = pendingEvictions(feed)
  const isLoaded = feed.health.state !== 'connecting' || evictions.length > 0
  // A past eviction stays pending until its outcome is known.
  const nextMs = useClock(
    (nowMs) => evictions.find((each) => timeLeftMs(each.deadline_ms, nowMs) > 0)?.deadline_ms ?? null,
    null,
  )
  return (
    <>
      <dl className="grid grid-cols-2 border-t border-l border-line sm:grid-cols-3 xl:grid-cols-6">
        {devboxFigures.map(({ count, query, ...figure }) => (
          <Figure
            key={count}
            {...figure}
            value={totals?.counts[count]}
            isAtLeast={totals?.isPartial}
            href={paths.devboxes(query)}
          />
        ))}
        <Figure
          label={
            nextMs !== null ? (
              <>
                Evictions, next in <Countdown deadlineMs={nextMs} />
              </>
            ) : (
              'Evictions pending'
            )
          }
          value={isLoaded ? evictions.length : undefined}
          href={paths.evictions()}
          tone="attention"
        />
        <Figure
          label="Axons (including deleted)"
          value={axonPage?.total_count ?? axonPage?.axons.length}
          isAtLeast={axonPage?.total_count == null && axonPage?.has_more}
          href={paths.axons()}
        />
      </dl>
      {totals?.isPartial && (
        <p className="mt-2 text-sm text-muted">The service reports no totals. Only its newest records are counted.</p>
      )}
      {totals && totals.trials > 0 && (
        <p className="mt-2 text-sm text-muted">
          <TextLink href={devboxesPath({ trials: 'shown' })} prefetch={false}>
            {totals.isPartial && 'At least '}
            {formatCountOf(totals.trials, 'trial devbox', 'trial devboxes')} not counted
          </TextLink>
        </p>
      )}
    </>
  )
}

interface FigureProps {
  label: ReactNode
  value: number | undefined
  isAtLeast?: boolean | undefined
  href: string
  tone?: 'danger' | 'attention'
}

const Figure = ({ label, value, isAtLeast, href, tone }: FigureProps) => (
  <div className="relative flex flex-col-reverse justify-end border-r border-b border-line px-4 py-3 has-[a:hover]:bg-surface-1">
    <dt className="text-sm text-muted">
      <Link
        href={href}
        className="after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-focus"
      >
        {label}
      </Link>
    </dt>
    <dd
      className={classes(
        'tabular text-2xl font-semibold tracking-tight',
        !value && 'text-muted',
        tone && value ? toneClasses[tone] : '',
      )}
    >
      {value === undefined ? '–' : formatCount(value)}
      {isAtLeast && (
        <>
          <span aria-hidden>+</span>
          <span className="sr-only"> or more</span>
        </>
      )}
    </dd>
  </div>
)

const toneClasses = { danger: 'text-danger', attention: 'text-attention' }

const RunningJobs = () => {
  const { data, hasNextPage } = useInfiniteQuery(overviewQueries.jobs())
  const running = data?.pages[0]?.jobs.filter(({ state }) => isJobActive(state)) ?? []
  if (running.length === 0) return null
  return (
    <Section title="Running jobs" href={paths.benchmarkJobs()} className="mt-8">
      <ul>
        {running.slice(0, shownRows).map((job) => (
          <RunningJob key={job.id} job={job} />
        ))}
      </ul>
      <Shown count={running.length} isAtLeast={hasNextPage} of="running jobs" />
    </Section>
  )
}

const RunningJob = ({ job }: { job: BenchmarkJob }) => (
  <Item href={paths.benchmarkJob(job.id)} name={job.name}>
    {/* Narrow screens have no room for the progress bar. */}
    <span className="max-sm:[&_progress]:hidden">
      <Progress {...progressOf(job)} label={`Progress of ${job.name}`} />
    </span>
    <span className="shrink-0 text-right text-muted">{shortEta(job, agentRows(job))}</span>
  </Item>
)

interface OwnDevbox {
  devbox: Devbox
  left: TimeLeft | undefined
}

/** Merges overlapping lists. Least time left first, then other active devboxes, then ended ones, newest first. */
export const ownDevboxes = (
  devboxes: readonly Devbox[],
  evictions: readonly Pick<Alert, 'devbox_id' | 'deadline_ms'>[],
): OwnDevbox[] => {
  const all = [...new Map(devboxes.map((devbox) => [devbox.id, devbox])).values()]
  // Some services ignore the origin filter of the lists.
  const own = all.filter((devbox) => !isOfTrial(devbox))
  const pending = new Map(evictions.map((eviction) => [eviction.devbox_id, eviction]))
  const rank = ({ devbox, left }: OwnDevbox) => (left ? 0 : hasEnded(devbox.status) ? 2 : 1)
  return own
    .map((devbox) => ({ devbox, left: timeLeftOf(devbox, pending.get(devbox.id)) }))
    .sort(
      (a, b) =>
        rank(a) - rank(b) ||
        (a.left?.at_ms ?? 0) - (b.left?.at_ms ?? 0) ||
        b.devbox.create_time_ms - a.devbox.create_time_ms,
    )
}

const OwnDevboxes = () => {
  const all = useInfiniteQuery(overviewQueries.devboxes())
  const running = useInfiniteQuery(overviewQueries.running())
  const { data: totals } = useQuery(overviewQueries.totals())
  const { data: feed } = useQuery(alertQueries.feed())
  const lists = [running, all].map(({ data }) => data?.pages[0]?.devboxes)
  const rows = ownDevboxes(
    lists.flatMap((list) => list ?? []),
    pendingEvictions(feed),
  )
  const total = totals && !totals.isPartial ? Object.values(totals.counts).reduce((a, b) => a + b, 0) : null
  return (
    <Section title="Devboxes" href={paths.devboxes()}>
      <Rows
        query={all}
        rows={lists[1] && rows}
        total={total}
        what="Devboxes"
        none={totals && totals.trials > 0 ? 'Only trial devboxes.' : 'No devboxes yet.'}
      >
        {({ devbox, left }: OwnDevbox) => (
          <Item key={devbox.id} href={paths.devbox(devbox.id)} name={devbox.name}>
            <DevboxStatusBadge status={devbox.status} />
            {left ? <TimeLeftText left={left} /> : <RowTime ms={devbox.create_time_ms} />}
          </Item>
        )}
      </Rows>
    </Section>
  )
}

const AxonActivity = () => {
  const query = useInfiniteQuery(overviewQueries.axons())
  const page = query.data?.pages[0]
  const axons = page?.axons ?? []
  const { data: last } = useQuery({ ...overviewQueries.lastEvents(axons), enabled: axons.length > 0 })
  const activeMs = ({ id, created_at_ms }: Axon) => last?.[id]?.timestamp_ms ?? created_at_ms
  return (
    <Section title="Recent axon activity" href={paths.axons()}>
      <Rows
        query={query}
        rows={page && axons.toSorted((a, b) => activeMs(b) - activeMs(a))}
        total={page?.total_count ?? null}
        what="Axons"
        none="No axons yet. An axon is a named record with your own metadata."
      >
        {(axon: Axon) => (
          <Item key={axon.id} href={paths.axon(axon.id)} name={axon.name}>
            <span className="max-w-1/2 truncate text-muted">
              {axon.deleted_at_ms != null && 'Deleted '}
              {last && <VisibleText max={60}>{last[axon.id]?.event_type ?? 'created'}</VisibleText>}
            </span>
            <RowTime ms={activeMs(axon)} />
          </Item>
        )}
      </Rows>
    </Section>
  )
}

interface RowsProps<Item> {
  query: { status: 'pending' | 'error' | 'success'; error: unknown; isFetching: boolean; refetch: () => unknown }
  rows: readonly Item[] | undefined
  total: number | null
  what: string
  none: string
  children: (item: Item) => ReactNode
}

const Rows = <Item,>({ query, rows, total, what, none, children }: RowsProps<Item>) => {
  const error = useShownError(query)
  if (rows?.length === 0) return <p className="py-4 text-muted">{none}</p>
  if (rows)
    return (
      <>
        <ul>{rows.slice(0, shownRows).map(children)}</ul>
        <Shown count={total ?? rows.length} isAtLeast={total === null} of={what.toLowerCase()} />
      </>
    )
  if (!error) return <SkeletonRows rows={shownRows} columns={2} label={`Loading ${what.toLowerCase()}`} />
  return (
    <ErrorState
      compact
      title={`${what} could not be loaded`}
      error={error}
      recovers={isTransient(error)}
      query={query}
    />
  )
}

const RowTime = ({ ms }: { ms: number }) => <RelativeTime ms={ms} className="w-20 shrink-0 text-right text-muted" />

const Shown = ({ count, isAtLeast, of }: { count: number; isAtLeast: boolean; of: string }) =>
  count > shownRows && (
    <p className="pt-1 text-sm text-muted">
      {shownRows} of {isAtLeast && 'at least '}
      {formatCount(count)} {of} shown
    </p>
  )

interface SectionProps {
  title: string
  href?: string
  className?: string
  children: ReactNode
}

const Section = ({ title, href, className, children }: SectionProps) => (
  <section className={className}>
    <div className="flex items-baseline justify-between gap-4 border-b border-line pb-2">
      <h2 className="text-lg font-medium">{title}</h2>
      {href && (
        <TextLink href={href} className="rounded-sm text-sm" aria-label={`${title}: show all`}>
          Show all
        </TextLink>
      )}
    </div>
    {children}
  </section>
)
