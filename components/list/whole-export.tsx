'use client'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { ColumnChoice } from '#lib/console/address/list-columns.ts'
import {
  type ExportFields,
  type ExportFormat,
  exportColumns,
  exportFormats,
  saveRows,
} from '#lib/console/lists/export.ts'
import type { ListSource, ListView } from '#lib/console/lists/list-source.ts'
import { wholeList } from '#lib/console/lists/whole-list.ts'
import { formatCount, t } from '#lib/language/translate.ts'

interface Row {
  id: string
}

interface WholeExportProps {
  source: ListSource<ListView, unknown, unknown, Row>
  view: ListView
  format: ExportFormat
  columns: readonly ColumnChoice[]
  fields: () => Promise<ExportFields<Row>>
  onClose: () => void
}

type Progress = { state: 'reading' } | { state: 'failed'; error: unknown } | { state: 'saved'; text: string }

/**
 * Reads a whole list, page after page, and saves it as a file once it is whole. What stopped half way is saved only when
 * that is asked for, under a name that says so.
 */
export const WholeExport = ({ source, view, format, columns, fields, onClose }: WholeExportProps) => {
  const client = useQueryClient()
  const [list] = useState(() => wholeList(source, view, client))
  const [progress, setProgress] = useState<Progress>({ state: 'reading' })
  const [read, setRead] = useState({ count: 0, total: null as number | null })
  const reading = useRef<AbortController>(undefined)
  const { nouns } = source
  const shownNouns = t(nouns)

  const save = useCallback(
    async (what: string) => {
      const rows = list.rows()
      const name = saveRows(what, format, rows, exportColumns(columns, await fields()))
      const left = list.count() - rows.length
      const values = { count: formatCount(rows.length), read: formatCount(list.count()), file: name }
      setProgress({
        state: 'saved',
        text: t(left > 0 ? '{count} of the {read} read saved in {file}' : '{count} saved in {file}', values),
      })
    },
    [list, format, columns, fields],
  )
  const start = async () => {
    const controller = new AbortController()
    reading.current = controller
    setProgress({ state: 'reading' })
    try {
      await list.read(controller.signal, () => setRead({ count: list.count(), total: list.total() }))
      await save(nouns)
    } catch (error) {
      if (!controller.signal.aborted) setProgress({ state: 'failed', error })
    }
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: once; each later start is a press
  useEffect(() => {
    void start()
    return () => reading.current?.abort()
  }, [])

  const size =
    read.total === null
      ? t('{count} {nouns} so far', { count: formatCount(read.count), nouns: shownNouns })
      : t('{count} of {total} {nouns}', {
          count: formatCount(read.count),
          total: formatCount(read.total),
          nouns: shownNouns,
        })
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="sm"
      title={t('Export {nouns} as {format}', { nouns: shownNouns, format: exportFormats[format] })}
      description={t('Every row that the address of this list asks for, with the columns it shows.')}
      footer={
        progress.state === 'reading' ? (
          <Button onClick={onClose}>{t('Cancel')}</Button>
        ) : progress.state === 'failed' ? (
          <>
            <Button onClick={onClose}>{t('Close without a file')}</Button>
            <Button
              disabledReason={read.count === 0 ? t('Nothing was read') : null}
              onClick={() => void save(`${nouns}-incomplete`)}
            >
              {t('Save what was read')}
            </Button>
            <Button variant="primary" onClick={() => void start()}>
              {t('Try again')}
            </Button>
          </>
        ) : (
          <Button variant="primary" onClick={onClose}>
            {t('Done')}
          </Button>
        )
      }
    >
      {progress.state === 'saved' ? (
        <p role="status" className="tabular">
          {progress.text}
        </p>
      ) : (
        <>
          <p role="status" className="tabular mb-2">
            {size}
          </p>
          <progress
            aria-label={t('{nouns} read', { nouns: shownNouns })}
            className="h-1.5 w-full accent-(--accent-solid)"
            max={read.total ?? undefined}
            value={read.total === null ? undefined : read.count}
          />
        </>
      )}
      {progress.state === 'failed' && (
        <Banner
          tone="danger"
          role="alert"
          title={t('The list could not be read to its end')}
          className="mt-3 rounded-md"
        >
          <p>
            <VisibleText max={300}>{problemOf(progress.error).message}</VisibleText>
          </p>
          <p>
            {t('No file is saved yet. Trying again goes on after the {count} that were read.', {
              count: formatCount(read.count),
            })}
          </p>
        </Banner>
      )}
    </Dialog>
  )
}
