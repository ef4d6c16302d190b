'use client'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import Link from 'next/link'
import type { ReactNode } from 'react'
import { DevboxStatusBadge } from '#components/devboxes/devbox-status.tsx'
import { Countdown } from '#components/evictions/countdown.tsx'
import { classes } from '#components/ui/classes.ts'
import { CommandBlock } from '#components/ui/command-block.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { useShownError } from '#components/ui/use-shown-error.ts'
import { NameText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { curlPost } from '#lib/console/api/curl-post.ts'
import { isPassing } from '#lib/console/api/failures.ts'
import { formatCount } from '#lib/console/frame/format.ts'
import { evictionQueries } from '#lib/console/queries/evictions.ts'
import { overviewQueries } from '#lib/console/queries/overview.ts'
import type { Axon } from '#lib/contract/axons.ts'
import type { Devbox } from '#lib/contract/devboxes.ts'
import { Attention } from './attention.tsx'
import { countDevboxes } from './devbox-counts.ts'

const shownRows = 6

export const Overview = ({ serviceUrl }: { serviceUrl: string }) => (
  <>
    <PageHeader title="Overview" />
    <Attention />
    <Figures />
    <div className="mt-8 grid grid-cols-1 gap-x-10 gap-y-8 lg:grid-cols-2">
      <NewestDevboxes />
      <NewestAxons />
    </div>
    <Section title="From a shell" className="mt-8 max-w-3xl">
      <p className="pt-2 pb-3 text-muted">
        Everything here is one call away. The service listens at{' '}
        <code className="font-mono text-text">{serviceUrl}</code>.
      </p>
      <CommandBlock
        command={curlPost(serviceUrl, '/v1/devboxes', '{"name": "from-a-shell", "metadata": {"env": "dev"}}')}
      />
    </Section>
  </>
)

/** The numbers of the account. They say what they were counted among. */
const Figures = () => {
  const devboxes = useInfiniteQuery(overviewQueries.devboxes())
  const axons = useInfiniteQuery(overviewQueries.axons())
  const { data: evictions } = useQuery(evictionQueries.feed())
  const page = devboxes.data?.pages[0]
  const counts = page && countDevboxes(page.devboxes)
  const pending = evictions.pending.length
  const [next] = evictions.pending
  return (
    <>
      <dl className="grid grid-cols-2 border-t border-l border-line sm:grid-cols-3 xl:grid-cols-6">
        <Figure label="Running" value={counts?.running} href={paths.devboxes({ status: 'running' })} />
        <Figure label="Between states" value={counts?.moving} />
        <Figure label="Suspended" value={counts?.suspended} href={paths.devboxes({ status: 'suspended' })} />
        <Figure label="Failed" value={counts?.failed} href={paths.devboxes({ status: 'failure' })} tone="danger" />
        <Figure
          label={
            next ? (
              <>
                Evictions, next in <Countdown deadlineMs={next.eviction_deadline_ms} />
              </>
            ) : (
              'Evictions pending'
            )
          }
          value={pending}
          href={paths.evictions()}
          tone="attention"
        />
        <Figure
          label="Axons, deleted too"
          value={axons.data?.pages[0]?.total_count ?? undefined}
          href={paths.axons()}
        />
      </dl>
      {page && counts && page.has_more && (
        <p className="mt-2 text-sm text-muted">
          States are counted among the newest {formatCount(page.devboxes.length)}
          {page.total_count == null ? ' devboxes; there are more.' : ` of ${formatCount(page.total_count)} devboxes.`}
        </p>
      )}
    </>
  )
}

interface FigureProps {
  label: ReactNode
  /** Undefined while it is not known. */
  value: number | undefined
  href?: string
  /** Worn only when there is something to see. */
  tone?: 'danger' | 'attention'
}

const Figure = ({ label, value, href, tone }: FigureProps) => (
  <div className="relative flex flex-col-reverse justify-end border-r border-b border-line px-4 py-3 has-[a:hover]:bg-surface-1">
    <dt className="truncate text-sm text-muted">
      {href ? (
        <Link
          href={href}
          className="after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-focus"
        >
          {label}
        </Link>
      ) : (
        label
      )}
    </dt>
    <dd
      className={classes(
        'tabular text-2xl font-semibold tracking-tight',
        !value && 'text-muted',
        tone && value ? toneClasses[tone] : '',
      )}
    >
      {value === undefined ? '–' : formatCount(value)}
    </dd>
  </div>
)

const toneClasses = { danger: 'text-danger', attention: 'text-attention' }

const NewestDevboxes = () => {
  const query = useInfiniteQuery(overviewQueries.devboxes())
  const rows = query.data?.pages[0]?.devboxes
  return (
    <Section title="Newest devboxes" href={paths.devboxes()}>
      <Rows
        query={query}
        rows={rows}
        what="Devboxes"
        none="No devboxes yet. Create one on the devboxes page, or from a shell."
      >
        {(devbox: Devbox) => (
          <Row
            key={devbox.id}
            href={paths.devbox(devbox.id)}
            name={<NameText>{devbox.name}</NameText>}
            state={<DevboxStatusBadge status={devbox.status} />}
            ms={devbox.create_time_ms}
          />
        )}
      </Rows>
    </Section>
  )
}

const NewestAxons = () => {
  const query = useInfiniteQuery(overviewQueries.axons())
  const rows = query.data?.pages[0]?.axons
  return (
    <Section title="Newest axons" href={paths.axons()}>
      <Rows
        query={query}
        rows={rows}
        what="Axons"
        none="No axons yet. An axon is a named record with metadata of your own."
      >
        {(axon: Axon) => (
          <Row
            key={axon.id}
            href={paths.axon(axon.id)}
            name={<NameText>{axon.name}</NameText>}
            state={axon.deleted_at_ms == null ? null : <span className="text-muted">Deleted</span>}
            ms={axon.created_at_ms}
          />
        )}
      </Rows>
    </Section>
  )
}

interface RowsProps<Item> {
  query: { status: 'pending' | 'error' | 'success'; error: unknown; isFetching: boolean; refetch: () => unknown }
  rows: readonly Item[] | undefined
  what: string
  none: string
  children: (item: Item) => ReactNode
}

const Rows = <Item,>({ query, rows, what, none, children }: RowsProps<Item>) => {
  const error = useShownError(query)
  if (rows?.length === 0) return <p className="py-4 text-muted">{none}</p>
  if (rows) return <ul>{rows.slice(0, shownRows).map(children)}</ul>
  if (!error) return <SkeletonRows rows={shownRows} columns={2} label={`Loading ${what.toLowerCase()}`} />
  return (
    <ErrorState compact title={`${what} could not be loaded`} error={error} recovers={isPassing(error)} query={query} />
  )
}

const Row = ({ href, name, state, ms }: { href: string; name: ReactNode; state: ReactNode; ms: number }) => (
  <li className="relative flex h-9 items-center gap-3 border-b border-line px-1 hover:bg-surface-1">
    <Link
      href={href}
      prefetch={false}
      className="min-w-0 flex-1 font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-focus"
    >
      {name}
    </Link>
    {state}
    <RelativeTime ms={ms} className="w-20 shrink-0 text-right text-muted" />
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
        <Link href={href} className="rounded-sm text-sm text-accent hover:underline" aria-label={`${title}: show all`}>
          Show all
        </Link>
      )}
    </div>
    {children}
  </section>
)
