'use client'
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import { SearchX, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { useShownError } from '#components/ui/use-shown-error.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { isTransient } from '#lib/browser/api/failures.ts'
import { counted, formatCount, formatSize } from '#lib/browser/format.ts'
import type { ActiveFilter } from '#lib/browser/lists/list-source.ts'
import { ListAge } from './list-age.tsx'

export interface ListViewProps {
  /** What a row is and what they are, in lower case: `axon`, `axons`. */
  noun: string
  nouns: string
  list: UseInfiniteQueryResult<InfiniteData<{ total_count?: number | null | undefined }>>
  /** Why the rows could not be read again, where that is not the list's own doing. */
  refreshError?: Error | null
  /** When the rows were last read, for a list that is read again by itself. */
  readMs?: number | undefined
  /** Shown; the page itself may show fewer than are loaded. */
  rows: readonly unknown[]
  loaded: readonly unknown[]
  /** How many of the loaded rows the page's own filters leave. */
  matching?: number
  /** Loaded rows that the service returned although they don't match its filters. */
  unmatched?: number
  /** More pages are being read because too few of the loaded rows match. */
  isSearching?: boolean
  /** Rows that wait for the pointer to leave the table. */
  waiting?: number
  release?: () => void
  /** Names of rows that were shown and are no more. */
  gone?: readonly string[]
  forgetGone?: () => void
  /** What the list says about its size, in place of what its pages tell. */
  count?: string
  columns: number
  filters: readonly ActiveFilter[]
  /** The list without filters. */
  clearHref: string
  /** The same list from its newest row on, when the address starts it later. */
  newestHref?: string
  /** Beside the count. */
  tools?: ReactNode
  /** What is shown while there is no row at all. */
  none: ReactNode
  /** The table. */
  children: ReactNode
}

/** The five states of a list that loads page after page: pending, failed, empty, empty because of its filters, rows. */
export const ListView = (props: ListViewProps) => {
  const { nouns, list, rows, columns, filters, newestHref, none, isSearching } = props
  const error = useShownError(list)
  if (!list.data && error)
    return (
      <ErrorState title={`The ${nouns} could not be loaded`} error={error} recovers={isTransient(error)} query={list} />
    )
  // No match in the pages so far, or for an earlier filter, says nothing about the rest.
  if (!list.data || (rows.length === 0 && (list.isPlaceholderData || isSearching)))
    return <SkeletonRows columns={columns} label={`Loading ${nouns}`} />
  if (rows.length === 0) return filters.length > 0 || newestHref ? <NoMatch {...props} /> : none
  return <Rows {...props} />
}

const Rows = (props: ListViewProps) => {
  const {
    nouns,
    list,
    rows,
    loaded,
    matching = loaded.length,
    unmatched = 0,
    waiting = 0,
    release,
    count,
    newestHref,
    tools,
    children,
  } = props
  const stale = props.refreshError ?? (list.isRefetchError ? list.error : null)
  // A list that starts at a cursor does not know how much lies before it, and a service that ignores a filter counts
  // rows that don't match.
  const total = newestHref || unmatched > 0 ? null : (list.data?.pages.at(-1)?.total_count ?? null)
  const size = {
    shown: rows.length,
    // Rows that wait for the pointer are not left out by a filter.
    loaded: matching === loaded.length ? rows.length : loaded.length,
    total,
    hasMore: list.hasNextPage,
  }
  return (
    <>
      {stale && (
        <Banner tone="attention" role="status" title="These rows are old" className="mb-2 rounded-md">
          Read <RelativeTime ms={list.dataUpdatedAt} />; {'not since'}:{' '}
          <VisibleText max={300}>{problemOf(stale).message}</VisibleText>
        </Banner>
      )}
      <div data-page-actions className="flex min-h-8 flex-wrap items-center gap-x-3 text-sm text-muted">
        <p role="status" className="tabular">
          {count ?? formatSize(size)}
        </p>
        {unmatched > 0 && <p>{filteredHere}</p>}
        {newestHref && <TextLink href={newestHref}>Back to the newest</TextLink>}
        {waiting > 0 && (
          <Button size="sm" variant="ghost" onClick={release}>
            {`Show ${waiting} new`}
          </Button>
        )}
        <Gone {...props} />
        {props.readMs !== undefined && <ListAge ms={props.readMs} />}
        {tools}
      </div>
      {children}
      {list.hasNextPage && <LoadMore nouns={nouns} list={list} />}
    </>
  )
}

const filteredHere = "Filtered in the browser, because the service returned rows that don't match."

/** Names that are told on hover. */
const mostNamed = 20

const Gone = ({ gone = [], forgetGone, filters }: Pick<ListViewProps, 'gone' | 'forgetGone' | 'filters'>) => {
  const what =
    filters.length > 0
      ? counted(gone.length, '{count} no longer matches', '{count} no longer match')
      : counted(gone.length, '{count} is gone', '{count} are gone')
  return (
    gone.length > 0 && (
      <p
        role="status"
        className="tabular flex items-center gap-x-1 text-text"
        title={gone.slice(0, mostNamed).join(', ')}
      >
        {what}
        <IconButton size="sm" icon={X} label={`${'Dismiss'}: ${what}`} onClick={forgetGone} />
      </p>
    )
  )
}

const LoadMore = ({ nouns, list }: Pick<ListViewProps, 'nouns' | 'list'>) => (
  <div className="flex flex-col items-center gap-2 py-4">
    <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
      {`Load more ${nouns}`}
    </Button>
    {list.isFetchNextPageError && (
      <p role="alert" className="text-danger">
        {problemOf(list.error).message}
      </p>
    )}
  </div>
)

const NoMatch = ({
  noun,
  nouns,
  list,
  loaded,
  unmatched = 0,
  filters,
  clearHref,
  newestHref = clearHref,
}: ListViewProps) =>
  filters.length > 0 ? (
    <EmptyState
      icon={SearchX}
      title={list.hasNextPage ? `No ${noun} of the ${formatCount(loaded.length)} loaded matches` : `No ${noun} matches`}
      action={
        <>
          <ButtonLink href={clearHref}>Clear filters</ButtonLink>
          {list.hasNextPage && <LoadMore nouns={nouns} list={list} />}
        </>
      }
    >
      <ul>
        {filters.map(({ text }) => (
          <li key={text}>
            <VisibleText max={120}>{text}</VisibleText>
          </li>
        ))}
      </ul>
      {unmatched > 0 && <p>{filteredHere}</p>}
    </EmptyState>
  ) : (
    <EmptyState
      icon={SearchX}
      title={`No more ${nouns}`}
      action={<ButtonLink href={newestHref}>Show the newest</ButtonLink>}
    >
      {`This address starts after the oldest ${noun}.`}
    </EmptyState>
  )
