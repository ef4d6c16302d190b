'use client'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { type ExportFormat, exportFormats, saveRows } from '#lib/browser/lists/export.ts'
import { type Column, exportColumns } from './column.ts'
import type { ListParams, ListSource } from './list-source.ts'
import { wholeList } from './whole-list.ts'

interface ExportDialogProps<Params extends ListParams, ListQuery, Page, PageParam, Row extends { id: string }> {
  source: ListSource<Params, ListQuery, Page, PageParam, Row>
  params: Params
  format: ExportFormat
  columns: readonly Column<Row>[]
  onClose: () => void
}

type State = { name: 'reading' } | { name: 'failed'; error: unknown } | { name: 'saved'; text: string }

/** Reads the whole list and saves it as a file. A partial list is saved only on request, with a name that says so. */
export const ExportDialog = <Params extends ListParams, ListQuery, Page, PageParam, Row extends { id: string }>({
  source,
  params,
  format,
  columns,
  onClose,
}: ExportDialogProps<Params, ListQuery, Page, PageParam, Row>) => {
  const client = useQueryClient()
  const [list] = useState(() => wholeList(source, params, client))
  const [state, setState] = useState<State>({ name: 'reading' })
  const [progress, setProgress] = useState({ count: 0, total: null as number | null })
  const reading = useRef<AbortController>(undefined)
  const { nouns } = source

  const save = (title: string) => {
    const rows = list.rows()
    const file = saveRows(title, format, rows, exportColumns(columns))
    const count =
      rows.length < list.count()
        ? `${formatCount(rows.length)} of ${formatCountOf(list.count(), 'row')}`
        : formatCountOf(rows.length, 'row')
    setState({ name: 'saved', text: `Saved ${count} to ${file}` })
  }
  const start = async () => {
    const controller = new AbortController()
    reading.current = controller
    setState({ name: 'reading' })
    try {
      await list.read(controller.signal, () => setProgress({ count: list.count(), total: list.total() }))
      save(nouns)
    } catch (error) {
      if (!controller.signal.aborted) setState({ name: 'failed', error })
    }
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: on mount; the user starts each later attempt
  useEffect(() => {
    void start()
    return () => reading.current?.abort()
  }, [])

  const { count, total } = progress
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="sm"
      title={`Export ${nouns} as ${exportFormats[format]}`}
      description="All rows that match the current filters, with the columns shown."
      footer={
        state.name === 'reading' ? (
          <Button onClick={onClose}>Cancel</Button>
        ) : state.name === 'failed' ? (
          <>
            <Button onClick={onClose}>Close</Button>
            <Button
              disabledReason={count === 0 ? 'no rows were read' : null}
              onClick={() => save(`${nouns}-incomplete`)}
            >
              Save partial list
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
      {state.name === 'saved' ? (
        <p role="status" className="tabular">
          {state.text}
        </p>
      ) : (
        <>
          <p role="status" className="tabular mb-2">
            {total === null
              ? `${formatCount(count)} ${nouns} so far`
              : `${formatCount(count)} of ${formatCount(total)} ${nouns}`}
          </p>
          <progress
            aria-label={`${nouns} read`}
            className="h-1.5 w-full accent-(--accent-solid)"
            max={total ?? undefined}
            value={total === null ? undefined : count}
          />
        </>
      )}
      {state.name === 'failed' && (
        <Banner tone="danger" role="alert" title="Couldn't read the whole list" className="mt-3 rounded-md">
          <p>
            <VisibleText max={300}>{problemOf(state.error).message}</VisibleText>
          </p>
          <p>{`Nothing is saved yet. Trying again continues after row ${formatCount(count)}.`}</p>
        </Banner>
      )}
    </Dialog>
  )
}
