'use client'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { type ExportFormat, exportFormats, saveRows } from '#lib/browser/lists/export.ts'
import { type Column, exportColumns } from './column.ts'
import type { ListParams, ListSource } from './list-source.ts'
import { type Progress, readWholeList } from './whole-list.ts'

interface ExportDialogProps<Params extends ListParams, ListQuery, Page, PageParam, Row extends { id: string }> {
  source: ListSource<Params, ListQuery, Page, PageParam, Row>
  params: Params
  format: ExportFormat
  columns: readonly Column<Row>[]
  onClose: () => void
}

export const ExportDialog = <Params extends ListParams, ListQuery, Page, PageParam, Row extends { id: string }>({
  source,
  params,
  format,
  columns,
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
    readWholeList(source, params, client, reading.signal, setProgress)
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
        <Banner tone="danger" role="alert" title="Couldn't read the whole list. Nothing is saved.">
          <VisibleText max={300}>{problemOf(error).message}</VisibleText>
        </Banner>
      )}
    </Dialog>
  )
}
