'use client'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import Link from 'next/link'
import type { ReactNode } from 'react'
import { pendingEvictions } from '#components/alerts/alert-feed.ts'
import { alertQueries } from '#components/alerts/queries.ts'
import { shortEta } from '#components/benchmarks/job/eta.ts'
import { agentRows, progressOf } from '#components/benchmarks/job-figures.ts'
import { Progress } from '#components/benchmarks/score.tsx'
import { DevboxStatusBadge } from '#components/devboxes/status.tsx'
import { TimeLeftText } from '#components/devboxes/time-left.tsx'
import { StaleNotice } from '#components/list/stale-notice.tsx'
import { CommandBlock } from '#components/ui/command-block.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { useShownError } from '#components/ui/use-shown-error.ts'
import { NameText, VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { curlPost } from '#lib/browser/api/code-samples.ts'
import { isTransient } from '#lib/browser/api/failures.ts'
import { formatCount } from '#lib/browser/format.ts'
import type { Axon } from '#lib/contract/axons.ts'
import { type BenchmarkJob, isJobActive } from '#lib/contract/benchmark-jobs.ts'
import { Attention } from './attention.tsx'
import { Figures } from './figures.tsx'
import { FirstRun } from './first-run.tsx'
import { type OwnDevbox, ownDevboxes } from './own-devboxes.ts'
import { overviewQueries } from './queries.ts'

const shownRows = 6

export const Overview = ({ serviceUrl }: { serviceUrl: string }) => {
  const devboxes = useInfiniteQuery(overviewQueries.devboxes())
  return (
    <>
      <PageHeader title="Overview" />
      <StaleNotice query={devboxes} />
      <FirstRun />
      <Attention />
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
        <CommandBlock
          command={curlPost(serviceUrl, '/v1/devboxes', '{"name": "from-a-shell", "metadata": {"env": "dev"}}')}
        />
      </Section>
    </>
  )
}

/** Active jobs with their progress and estimate. */
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
  <Row
    href={paths.benchmarkJob(job.id)}
    name={<VisibleText max={80}>{job.name}</VisibleText>}
    // Narrow screens have no room for the progress bar.
    state={
      <span className="max-sm:[&_progress]:hidden">
        <Progress {...progressOf(job)} label={`Progress of ${job.name}`} />
      </span>
    }
    time={<span className="shrink-0 text-right text-muted">{shortEta(job, agentRows(job))}</span>}
  />
)

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
  const total = totals && totals.countedNewest === null ? Object.values(totals.counts).reduce((a, b) => a + b, 0) : null
  return (
    <Section title="Devboxes" href={paths.devboxes()}>
      <Rows
        query={all}
        rows={lists[1] && rows}
        total={total}
        what="Devboxes"
        none={
          totals && totals.trials > 0
            ? 'Only trial devboxes.'
            : 'No devboxes yet. Create one on the devboxes page, or from a shell.'
        }
      >
        {({ devbox, left }: OwnDevbox) => (
          <Row
            key={devbox.id}
            href={paths.devbox(devbox.id)}
            name={<NameText>{devbox.name}</NameText>}
            state={<DevboxStatusBadge status={devbox.status} />}
            time={left ? <TimeLeftText left={left} /> : <RowTime ms={devbox.create_time_ms} />}
          />
        )}
      </Rows>
    </Section>
  )
}

/** The newest axons, most recently active first. */
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
          <Row
            key={axon.id}
            href={paths.axon(axon.id)}
            name={<NameText>{axon.name}</NameText>}
            state={
              <span className="max-w-1/2 truncate text-muted">
                {axon.deleted_at_ms != null && 'Deleted '}
                {last && <VisibleText max={60}>{last[axon.id]?.event_type ?? 'created'}</VisibleText>}
              </span>
            }
            time={<RowTime ms={activeMs(axon)} />}
          />
        )}
      </Rows>
    </Section>
  )
}

interface RowsProps<Item> {
  query: { status: 'pending' | 'error' | 'success'; error: unknown; isFetching: boolean; refetch: () => unknown }
  rows: readonly Item[] | undefined
  /** Null if unknown. */
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

const Row = ({ href, name, state, time }: { href: string; name: ReactNode; state: ReactNode; time: ReactNode }) => (
  <li className="relative flex h-9 items-center gap-3 border-b border-line px-1 hover:bg-surface-1">
    <Link
      href={href}
      prefetch={false}
      className="min-w-0 flex-1 font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-focus"
    >
      {name}
    </Link>
    {state}
    {time}
  </li>
)

const Section = ({
  title,
  href,
  className,
  children,
}: {
  title: string
  href?: string
  className?: string
  children: ReactNode
}) => (
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
