'use client'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { ColumnChoice } from '#lib/browser/address/list-columns.ts'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import {
  type ExportFields,
  type ExportFormat,
  exportColumns,
  exportFormats,
  saveRows,
} from '#lib/browser/lists/export.ts'
import type { ListSource, ListView } from '#lib/browser/lists/list-source.ts'
import { wholeList } from '#lib/browser/lists/whole-list.ts'

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

  const save = useCallback(
    async (what: string) => {
      const rows = list.rows()
      const name = saveRows(what, format, rows, exportColumns(columns, await fields()))
      const left = list.count() - rows.length
      const saved = formatCountOf(rows.length, 'row')
      const text =
        left > 0
          ? `Saved ${formatCount(rows.length)} of ${formatCountOf(list.count(), 'row')} to ${name}`
          : `Saved ${saved} to ${name}`
      setProgress({ state: 'saved', text })
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
      ? `${formatCount(read.count)} ${nouns} so far`
      : `${formatCount(read.count)} of ${formatCount(read.total)} ${nouns}`
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="sm"
      title={`Export ${nouns} as ${exportFormats[format]}`}
      description="Every row that the address of this list asks for, with the columns it shows."
      footer={
        progress.state === 'reading' ? (
          <Button onClick={onClose}>Cancel</Button>
        ) : progress.state === 'failed' ? (
          <>
            <Button onClick={onClose}>Close without a file</Button>
            <Button
              disabledReason={read.count === 0 ? 'Nothing was read' : null}
              onClick={() => void save(`${nouns}-incomplete`)}
            >
              Save what was read
            </Button>
            <Button variant="primary" onClick={() => void start()}>
              Try again
            </Button>
          </>
        ) : (
          <Button variant="primary" onClick={onClose}>
            Done
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
            aria-label={`${nouns} read`}
            className="h-1.5 w-full accent-(--accent-solid)"
            max={read.total ?? undefined}
            value={read.total === null ? undefined : read.count}
          />
        </>
      )}
      {progress.state === 'failed' && (
        <Banner tone="danger" role="alert" title="The list could not be read to its end" className="mt-3 rounded-md">
          <p>
            <VisibleText max={300}>{problemOf(progress.error).message}</VisibleText>
          </p>
          <p>{`No file is saved yet. Trying again goes on after the ${formatCount(read.count)} that were read.`}</p>
        </Banner>
      )}
    </Dialog>
  )
}
