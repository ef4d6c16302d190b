'use client'
import { CircleCheck, CircleMinus, CircleX, Download } from 'lucide-react'
import { useMemo } from 'react'
import type { Column } from '#components/list/column.ts'
import { DataTable } from '#components/list/data-table.tsx'
import { Badge } from '#components/ui/badge.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { cutEnd } from '#components/ui/text.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCountOf } from '#lib/browser/format.ts'
import { type ExportColumn, saveText, toCsv, toJson } from '#lib/browser/lists/export.ts'
import type { SqlBatchResult, SqlResult } from '#lib/contract/axons.ts'
import type { SqlPiece } from './sql-statements.ts'

interface SqlStatementResultProps {
  piece: SqlPiece
  result: SqlBatchResult['results'][number]
  isOnly: boolean
}

/** Result or error of one statement. */
export const SqlStatementResult = ({ piece, result: { success, error }, isOnly }: SqlStatementResultProps) => (
  <article aria-label={`Result of ${cutEnd(piece.sql, 80)}`} className="space-y-2 border-t border-line pt-3">
    {!isOnly && (
      <p className="flex min-w-0 items-baseline gap-2 text-sm text-muted">
        <span className="tabular shrink-0">Line {piece.line}</span>
        <code className="min-w-0 truncate font-mono text-text">
          <VisibleText max={200}>{piece.sql}</VisibleText>
        </code>
      </p>
    )}
    {success ? (
      <Result result={success} />
    ) : error ? (
      <Failure message={error.message} />
    ) : (
      <p className="text-muted">Not run: an earlier statement failed and the transaction was rolled back.</p>
    )}
  </article>
)

/** Only one statement of a transaction fails; the others are undone or not run. */
const Failure = ({ message }: { message: string }) => {
  const [, outcome, reason] = /^(Undone|Not run): (.*)$/s.exec(message) ?? []
  if (outcome && reason)
    return (
      <p className="flex flex-wrap items-start gap-2 text-muted">
        <Badge tone="neutral" icon={CircleMinus}>
          {outcome}
        </Badge>
        <VisibleText max={2000}>{reason}</VisibleText>
      </p>
    )
  return (
    <p role="alert" className="flex flex-wrap items-start gap-2">
      <Badge tone="danger" icon={CircleX}>
        Failed
      </Badge>
      <span className="min-w-0 text-danger break-words">
        <VisibleText max={2000}>{message}</VisibleText>
      </span>
    </p>
  )
}

interface ResultRow {
  number: number
  cells: readonly unknown[]
}

const Result = ({ result: { columns, rows, meta } }: { result: SqlResult }) => {
  const numbered = useMemo(
    () => rows.map((cells, number): ResultRow => ({ number, cells: Array.isArray(cells) ? cells : [cells] })),
    [rows],
  )
  const tableColumns = useMemo(() => columnsOf(columns, numbered), [columns, numbered])
  const exported = useMemo(() => exportOf(columns), [columns])
  const { changes, duration_ms, rows_read_limit_reached } = meta
  return (
    <>
      <div className="flex min-h-7 flex-wrap items-center gap-x-3 text-sm text-muted">
        <Badge tone="ok" icon={CircleCheck}>
          Done
        </Badge>
        <p role="status" className="tabular">
          {columns.length > 0 ? rowsText(rows.length) : `${rowsText(changes)} changed`} in {formatMs(duration_ms)}
        </p>
        {rows.length > 0 && (
          <span className="ml-auto">
            <DropdownMenu
              label="Export the result"
              trigger={
                <Button size="sm" variant="ghost" icon={Download}>
                  Export
                </Button>
              }
              items={[
                { label: 'CSV', onSelect: () => saveText('axon-query', 'csv', toCsv(numbered, exported)) },
                { label: 'JSON', onSelect: () => saveText('axon-query', 'json', toJson(numbered, exported)) },
              ]}
            />
          </span>
        )}
      </div>
      {rows_read_limit_reached && (
        <Banner tone="attention" role="status" title="Results are incomplete">
          The service reached its row limit. Narrow the query with WHERE or LIMIT.
        </Banner>
      )}
      {columns.length > 0 && rows.length > 0 && (
        <DataTable caption="Result" columns={tableColumns} rows={numbered} rowKey={numberOf} isScrolled />
      )}
    </>
  )
}

const numberOf = ({ number }: ResultRow) => String(number)

const formatMs = (ms: number): string => (ms < 10 ? `${Number(ms.toPrecision(2))} ms` : `${Math.round(ms)} ms`)

const rowsText = (count: number) => formatCountOf(count, 'row')

const columnsOf = (columns: SqlResult['columns'], rows: readonly ResultRow[]): Column<ResultRow>[] =>
  columns.map(({ name }, at) => {
    const isNumeric = rows.length > 0 && rows.every(({ cells }) => isNumberOrNull(cells[at]))
    return {
      // Column names can repeat.
      id: `${at} ${name}`,
      header: () => <VisibleText max={80}>{name}</VisibleText>,
      cell: ({ row }) => <Cell value={row.original.cells[at]} />,
      meta: {
        mono: true,
        priority: at === 0 ? 1 : at === 1 ? 2 : 3,
        align: isNumeric ? 'right' : undefined,
        width: isNumeric && columns.length > 1 ? '8rem' : undefined,
      },
    }
  })

const isNumberOrNull = (value: unknown) => value === null || typeof value === 'number'

const Cell = ({ value }: { value: unknown }) =>
  value === null || value === undefined ? (
    <span className="text-muted">NULL</span>
  ) : (
    <VisibleText truncate>{typeof value === 'object' ? JSON.stringify(value) : String(value)}</VisibleText>
  )

/** Numbers duplicate column names, so that JSON keeps both. */
const exportOf = (columns: SqlResult['columns']): ExportColumn<ResultRow>[] =>
  columns.map(({ name }, at) => ({
    name: columns.findIndex((each) => each.name === name) === at ? name : `${name} (${at + 1})`,
    value: ({ cells }) => cells[at],
  }))
