'use client'
import { type QueryClient, type QueryFunction, type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { type ExportFormat, exportFormats, saveRows } from '#lib/browser/lists/export.ts'
import { forService, isSortedByService } from '#lib/browser/lists/service-sort.ts'
import { type Column, exportColumns } from './column.ts'
import type { ListParams, ListSource } from './list-source.ts'
import { readSort, sortRows } from './sort-rows.ts'

interface ExportDialogProps<Params extends ListParams, ListQuery, Page, PageParam, Row extends { id: string }> {
  source: ListSource<Params, ListQuery, Page, PageParam, Row>
  params: Params
  format: ExportFormat
  columns: readonly Column<Row>[]
  /** From `useListQuery`. */
  list: { canSort: boolean; sortColumns: readonly Column<Row>[] }
  onClose: () => void
}

export const ExportDialog = <Params extends ListParams, ListQuery, Page, PageParam, Row extends { id: string }>({
  source,
  params,
  format,
  columns,
  list,
  onClose,
}: ExportDialogProps<Params, ListQuery, Page, PageParam, Row>) => {
  const client = useQueryClient()
  const [{ count, total }, setProgress] = useState<Progress>({ count: 0, total: null })
  const [saved, setSaved] = useState<string>()
  const [error, setError] = useState<unknown>()
  const { nouns } = source
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, on mount
  useEffect(() => {
    const reading = new AbortController()
    readWholeList(source, list, params, client, reading.signal, setProgress)
      .then((rows) => {
        const file = saveRows(nouns, format, rows, exportColumns(columns))
        setSaved(`Saved ${formatCountOf(rows.length, 'row')} to ${file}`)
      })
      .catch((reason: unknown) => reading.signal.aborted || setError(reason))
    return () => reading.abort()
  }, [])
  const isReading = saved === undefined && error === undefined
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="sm"
      title={`Export ${nouns} as ${exportFormats[format]}`}
      description="All rows that match the current filters, with the columns shown."
      footer={
        <Button variant={isReading ? 'secondary' : 'primary'} onClick={onClose}>
          {isReading ? 'Cancel' : saved === undefined ? 'Close' : 'Done'}
        </Button>
      }
    >
      <p role="status" className="tabular mb-2">
        {saved ??
          (total === null
            ? `${formatCount(count)} ${nouns} so far`
            : `${formatCount(count)} of ${formatCount(total)} ${nouns}`)}
      </p>
      {isReading && (
        <progress
          aria-label={`${nouns} read`}
          className="h-1.5 w-full accent-(--accent-solid)"
          max={total ?? undefined}
          value={total === null ? undefined : count}
        />
      )}
      {error !== undefined && (
        <Banner tone="danger" role="alert" title="Couldn't read the whole list. Nothing was saved.">
          <VisibleText max={300}>{problemOf(error).message}</VisibleText>
        </Banner>
      )}
    </Dialog>
  )
}

const rowsPerCall = 200

interface Progress {
  count: number
  total: number | null
}

/** Reads a whole list page by page, from where its address starts, and filters and sorts it as the page does. */
export const readWholeList = async <Params extends ListParams, ListQuery, Page, PageParam, Row extends { id: string }>(
  source: Pick<ListSource<Params, ListQuery, Page, PageParam, Row>, 'queryOf' | 'list' | 'matches' | 'arrange'>,
  { canSort, sortColumns }: ExportDialogProps<Params, ListQuery, Page, PageParam, Row>['list'],
  params: Params,
  client: QueryClient,
  signal: AbortSignal,
  onPage: (progress: Progress) => void,
): Promise<readonly Row[]> => {
  const query = { ...forService(source.queryOf(params), canSort), limit: rowsPerCall }
  const { queryKey, queryFn, initialPageParam, getNextPageParam, rowsOf } = source.list(query)
  const readPage = queryFn as QueryFunction<Page, QueryKey, PageParam>
  const pages: Page[] = []
  const pageParams: PageParam[] = []
  // By ID: a row that moves while the list is read is returned twice.
  const rows = new Map<string, Row>()
  let next: PageParam | null | undefined = initialPageParam as PageParam
  do {
    const pageParam = next as PageParam
    const page = await readPage({ client, queryKey, signal, pageParam, direction: 'forward', meta: undefined })
    signal.throwIfAborted()
    pages.push(page)
    pageParams.push(pageParam)
    for (const row of rowsOf(page)) rows.set(row.id, row)
    const { total_count } = pages[0] as { total_count?: number | null }
    const isKnown = !params.starting_after && typeof total_count === 'number'
    onPage({ count: rows.size, total: isKnown ? Math.max(total_count, rows.size) : null })
    next = getNextPageParam(page, pages, pageParam, pageParams)
  } while (next != null)
  const matching = [...rows.values()].filter(source.matches?.(query) ?? (() => true))
  const filtered = source.arrange?.(matching, params) ?? matching
  const sort = isSortedByService(query) ? null : readSort(params.sort, sortColumns)
  return sort ? sortRows(filtered, sort, sortColumns) : filtered
}
