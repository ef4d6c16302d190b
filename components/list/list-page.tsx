'use client'
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import { Link2Off, SearchX } from 'lucide-react'
import type { MouseEvent, PointerEvent, ReactNode } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { PageActions } from '#components/ui/page-actions.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { RelativeTime, useShownZone } from '#components/ui/relative-time.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { formatTimeOfDay, formatZone } from '#components/ui/time-text.ts'
import { useShownError } from '#components/ui/use-shown-error.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { isTransient } from '#lib/browser/api/failures.ts'
import { formatCount, formatSize } from '#lib/browser/format.ts'
import { toServiceTime } from '#lib/client/clock.ts'
import type { FieldProblem } from '#lib/contract/query-string.ts'
import type { ActiveFilter } from './list-source.ts'
import { type BulkAction, SelectionBar } from './selection-bar.tsx'

interface ListPageProps<Row> extends Omit<ListViewProps, 'list'> {
  title: string
  /** From `useListQuery`. */
  list: ListViewProps['list'] & {
    clearHref: string
    problems: readonly FieldProblem[]
    followHere: (event: MouseEvent) => void
    pointer: { onPointerEnter?: (event: PointerEvent) => void; onPointerLeave?: () => void }
    selectedRows: readonly Row[]
    clearSelection: () => void
  }
  actions?: ReactNode
  filters?: ReactNode
  bulk?: readonly BulkAction<Row>[]
  bulkTools?: ReactNode
}

export const ListPage = <Row extends { id: string; name?: string | null | undefined }>({
  title,
  list,
  actions,
  filters,
  bulk = [],
  bulkTools,
  children,
  ...view
}: ListPageProps<Row>) => (
  <>
    <div onClickCapture={list.followHere}>
      <PageHeader title={title} actions={actions} />
      {list.problems.length > 0 ? (
        <InvalidAddress problems={list.problems} clearHref={list.clearHref} />
      ) : (
        <>
          {filters}
          <ListView list={list} {...view}>
            <div {...list.pointer}>{children}</div>
          </ListView>
        </>
      )}
    </div>
    {list.selectedRows.length > 0 && (
      <SelectionBar
        noun={list.noun}
        nouns={list.nouns}
        rows={list.selectedRows}
        actions={bulk}
        onClear={list.clearSelection}
      >
        {bulkTools}
      </SelectionBar>
    )}
  </>
)

const InvalidAddress = ({ problems, clearHref }: { problems: readonly FieldProblem[]; clearHref: string }) => (
  <EmptyState
    icon={Link2Off}
    title="This address has invalid filters"
    action={<ButtonLink href={clearHref}>Show the list without filters</ButtonLink>}
  >
    <ul>
      {problems.map(({ field, message }) => (
        <li key={`${field} ${message}`}>
          <VisibleText max={80} mono className="text-text">
            {field}
          </VisibleText>{' '}
          {message}
        </li>
      ))}
    </ul>
  </EmptyState>
)

/** The subset of `useListQuery` that shows a list. */
interface List {
  noun: string
  nouns: string
  query: UseInfiniteQueryResult<InfiniteData<{ total_count?: number | null | undefined }>>
  rows: readonly unknown[]
  loaded: readonly unknown[]
  matching?: number
  unmatched?: number
  isSearching?: boolean
  filters?: readonly ActiveFilter[]
  clearHref?: string
  firstHref?: string | undefined
  /** Who sorts the rows, if they are sorted by a column. */
  sorted?: 'service' | 'page' | null
  refreshError?: Error | null
  refreshedAtMs?: number | undefined
}

export interface ListViewProps {
  list: List
  count?: string
  tools?: ReactNode
  empty: ReactNode
  children: ReactNode
}

/** The states of a list: loading, failed, empty, no match, rows. */
export const ListView = (props: ListViewProps) => {
  const { nouns, query, rows, filters = [], firstHref, isSearching } = props.list
  const error = useShownError(query)
  if (!query.data && error)
    return <ErrorState title={`Couldn't load ${nouns}`} error={error} recovers={isTransient(error)} query={query} />
  // Rows not loaded yet may still match.
  if (!query.data || (rows.length === 0 && (query.isPlaceholderData || isSearching)))
    return <SkeletonRows columns={5} label={`Loading ${nouns}`} />
  if (rows.length > 0) return <Rows {...props} />
  return filters.length > 0 || firstHref ? <NoMatch list={props.list} /> : props.empty
}

const Rows = ({ list, count, tools, children }: ListViewProps) => {
  const { query, rows, loaded, matching = loaded.length, unmatched = 0, firstHref } = list
  const stale = list.refreshError ?? (query.isRefetchError ? query.error : null)
  // Unknown if the list starts at a cursor, or if the service counts rows that don't match.
  const counted = query.data?.pages.findLast(({ total_count }) => typeof total_count === 'number')
  const total = firstHref || unmatched > 0 ? null : (counted?.total_count ?? null)
  const size = {
    shown: rows.length,
    // Rows that wait for the pointer are not filtered out.
    loaded: matching === loaded.length ? rows.length : loaded.length,
    total,
    hasMore: query.hasNextPage,
  }
  return (
    <>
      {stale && (
        <Banner tone="attention" role="status" title="This list is out of date" className="mb-2 rounded-md">
          Last updated <RelativeTime ms={toServiceTime(query.dataUpdatedAt)} />.{' '}
          <VisibleText max={300}>{problemOf(stale).message}</VisibleText>
        </Banner>
      )}
      <PageActions className="flex min-h-8 flex-wrap items-center gap-x-3 text-sm text-muted">
        <p role="status" className="tabular">
          {count ?? formatSize(size)}
        </p>
        {list.sorted && <p className="tabular">{sortText(list, total)}</p>}
        {unmatched > 0 && <p>{filteredHere}</p>}
        {firstHref && <TextLink href={firstHref}>{list.sorted ? 'Back to the first rows' : 'Back to newest'}</TextLink>}
        {list.refreshedAtMs !== undefined && <RefreshedAt ms={list.refreshedAtMs} />}
        {tools}
      </PageActions>
      {children}
      {query.hasNextPage && <LoadMore list={list} />}
    </>
  )
}

const filteredHere = "Filtered in the browser because the service returned rows that don't match."

/** Which rows are in the shown order. */
const sortText = ({ nouns, sorted, loaded, query, isSearching }: List, total: number | null): string => {
  if (sorted === 'service') return `Sorted by the service${total === null ? '' : ` over all ${formatCount(total)}`}`
  const known = formatCount(loaded.length)
  if (!query.hasNextPage) return `Sorted over all ${known} loaded`
  const rest = total === null ? '; more exist' : ` of ${formatCount(total)}`
  return isSearching ? `Loading ${nouns} to sort: ${known}${rest}` : `Sorted over the ${known} loaded${rest}`
}

const RefreshedAt = ({ ms }: { ms: number }) => {
  const zone = useShownZone()
  return (
    // Wide enough for most values, so that its neighbors don't move.
    <p className="min-w-48">
      <span className="tabular">{`As of ${formatTimeOfDay(ms, zone).slice(0, 8)} ${formatZone(ms, zone)},`}</span>{' '}
      <RelativeTime ms={ms} />
    </p>
  )
}

const LoadMore = ({ list: { nouns, query } }: { list: List }) => (
  <div className="flex flex-col items-center gap-2 py-4">
    <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
      {`Load more ${nouns}`}
    </Button>
    {query.isFetchNextPageError && (
      <p role="alert" className="text-danger">
        {problemOf(query.error).message}
      </p>
    )}
  </div>
)

const NoMatch = ({ list }: { list: List }) => {
  const { noun, nouns, query, loaded, unmatched = 0, filters = [], clearHref = '' } = list
  if (filters.length === 0)
    return (
      <EmptyState
        icon={SearchX}
        title={`No more ${nouns}`}
        action={<ButtonLink href={list.firstHref ?? clearHref}>Show newest</ButtonLink>}
      >
        {`This address starts after the oldest ${noun}.`}
      </EmptyState>
    )
  return (
    <EmptyState
      icon={SearchX}
      title={
        query.hasNextPage ? `None of the ${formatCount(loaded.length)} loaded ${nouns} match` : `No ${nouns} match`
      }
      action={
        <>
          <ButtonLink href={clearHref}>Clear filters</ButtonLink>
          {query.hasNextPage && <LoadMore list={list} />}
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
  )
}
