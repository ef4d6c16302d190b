'use client'
import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { CircleCheck, CircleMinus, CircleX, Download, Play } from 'lucide-react'
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react'
import type { Column } from '#components/list/column.ts'
import { DataTable } from '#components/list/data-table.tsx'
import { Badge } from '#components/ui/badge.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { Field, TextField } from '#components/ui/field.tsx'
import { submitOnCtrlEnter, Textarea, useTakesKeys } from '#components/ui/input.tsx'
import { PageActions } from '#components/ui/page-actions.tsx'
import { useRefusal } from '#components/ui/refusals.ts'
import { cutEnd } from '#components/ui/text.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCountOf } from '#lib/browser/format.ts'
import { readTab, writeTab } from '#lib/browser/frame/tab-storage.ts'
import { type ExportColumn, saveText, toCsv, toJson } from '#lib/browser/lists/export.ts'
import type { SqlBatchResult, SqlResult } from '#lib/contract/axons.ts'
import { axonMutations, axonQueries } from './queries.ts'
import { type AxonTable, axonTables, selectFrom } from './sql-queries.ts'
import { readParams, type SqlPiece, splitStatements, withStatement } from './sql-statements.ts'

const example = `SELECT sequence, origin, event_type, source, payload
FROM rl_axon_events
ORDER BY sequence DESC
LIMIT 50`

/** SQL editor for an axon's database. Several statements run in one transaction. */
export const SqlPanel = ({ id }: { id: string }) => {
  const { data: axon } = useSuspenseQuery(axonQueries.get(id))
  const [text, setText] = useDraft(axon.id)
  const takesKeys = useTakesKeys()
  const [params, setParams] = useState('')
  const [problem, setProblem] = useState<{ field: 'sql' | 'params'; message: string } | null>(null)
  /** The statements that the results below belong to. */
  const [ran, setRan] = useState<readonly SqlPiece[]>([])
  const run = useMutation(axonMutations.run())
  const isReader = useRefusal('axons.update') !== null
  const pieces = splitStatements(text)
  const editor = useRef<HTMLTextAreaElement>(null)
  const choose = (table: AxonTable) => {
    // Replace the example, but keep the user's own text.
    setText(withStatement(text === example ? '' : text, selectFrom(table)))
    requestAnimationFrame(() => {
      editor.current?.focus()
      editor.current?.setSelectionRange(editor.current.value.length, editor.current.value.length)
    })
  }

  const start = (event: FormEvent) => {
    event.preventDefault()
    if (run.isPending) return
    const read = readParams(params)
    if (pieces.length === 0) return setProblem({ field: 'sql', message: 'Enter a statement' })
    if (!read.ok) return setProblem({ field: 'params', message: read.message })
    if (read.params.length > 0 && pieces.length > 1)
      return setProblem({ field: 'params', message: 'Parameters can only be used with a single statement' })
    setProblem(null)
    setRan(pieces)
    run.mutate({ id: axon.id, statements: pieces.map(({ sql }) => ({ sql, params: read.params })) })
  }
  const errorOf = (field: 'sql' | 'params') => (problem?.field === field ? problem.message : undefined)
  return (
    <section aria-label="SQL" className="space-y-4">
      <div className="grid gap-x-6 gap-y-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <form onSubmit={start} className="min-w-0 space-y-3">
          <Field
            label="Statements"
            error={errorOf('sql')}
            hint={`SQLite. The table rl_axon_events holds the events; ${axon.deleted_at_ms == null ? 'your own tables are stored with the axon' : 'the axon is deleted, so its tables are read-only'}.`}
          >
            {(control) => (
              <Textarea
                {...control}
                ref={editor}
                mono
                rows={Math.min(16, Math.max(5, text.split('\n').length + 1))}
                maxLength={100_000}
                // Keys typed before hydration would be mixed into the example.
                readOnly={!takesKeys}
                value={text}
                onKeyDown={submitOnCtrlEnter}
                onChange={({ target }) => setText(target.value)}
              />
            )}
          </Field>
          <TextField
            label="Parameters"
            optional
            error={errorOf('params')}
            hint="A JSON array, one value for each ? in order."
            mono
            className="max-w-lg"
            placeholder='["build.finished", 10]'
            value={params}
            onKeyDown={submitOnCtrlEnter}
            onText={setParams}
          />
          <PageActions className="flex flex-wrap items-center gap-3">
            <Button type="submit" variant="primary" icon={Play} busy={run.isPending}>
              {pieces.length > 1 ? `Run ${pieces.length} statements` : 'Run statement'}
            </Button>
            <p className="text-sm text-muted">
              Ctrl+Enter to run.{pieces.length > 1 && ' Runs as one transaction.'}
              {isReader && ' Viewers can run statements that only read.'}
            </p>
          </PageActions>
        </form>
        <SqlTables axonId={axon.id} onChoose={choose} />
      </div>
      {run.error && (
        <div className="space-y-1 rounded-md border border-danger-line bg-danger-bg px-3 py-2">
          <InlineError error={run.error} />
          {ran.length === 1 && (
            <pre className="max-h-32 overflow-auto font-mono text-sm whitespace-pre-wrap break-words">
              {ran[0]?.sql}
            </pre>
          )}
        </div>
      )}
      {ran.map((piece, at) => {
        const result = run.data?.[at]
        return (
          result && (
            <SqlStatementResult
              key={`${run.submittedAt} ${piece.start}`}
              piece={piece}
              result={result}
              isOnly={ran.length === 1}
            />
          )
        )
      })}
    </section>
  )
}

/** Draft that survives a reload. */
const useDraft = (axonId: string) => {
  const [text, setText] = useState(example)
  const key = `devdeck:sql:${axonId}`
  useEffect(() => {
    const saved = readTab(key)
    if (saved !== null) setText(saved)
  }, [key])
  const change = (next: string) => {
    setText(next)
    writeTab(key, next)
  }
  return [text, change] as const
}

interface SqlTablesProps {
  axonId: string
  onChoose: (table: AxonTable) => void
}

/** Tables of the axon's database. Clicking one inserts a SELECT. */
const SqlTables = ({ axonId, onChoose }: SqlTablesProps) => {
  const { data, error } = useQuery(axonTables(axonId))
  return (
    <section aria-label="Tables" className="min-w-0">
      <h2 className="mb-1 font-medium">Tables</h2>
      {error && !data && <InlineError error={error} />}
      {!data && !error && <p className="animate-appear-late text-sm text-muted">Loading…</p>}
      {data && (
        <ul className="max-h-80 divide-y divide-line overflow-y-auto rounded-md border border-line">
          {data.map((table) => (
            <li key={table.name}>
              <button
                type="button"
                title={table.problem ?? 'Insert a SELECT'}
                onClick={() => onChoose(table)}
                className="block w-full px-2.5 py-1.5 text-left -outline-offset-2 hover:bg-surface-2"
              >
                <span className="flex items-baseline gap-2">
                  <span className="min-w-0 flex-1 truncate font-mono text-sm font-medium">
                    <VisibleText max={80}>{table.name}</VisibleText>
                  </span>
                  <span className="tabular shrink-0 text-xs text-muted">{sizeOf(table)}</span>
                </span>
                <span className="block text-xs break-words text-muted">
                  {table.problem ? (
                    <VisibleText max={200}>{table.problem}</VisibleText>
                  ) : (
                    <VisibleText max={400}>{columnText(table)}</VisibleText>
                  )}
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

const sizeOf = ({ kind, rows }: AxonTable): string => {
  if (kind === 'view') return 'View'
  return rows === undefined ? 'Not counted' : formatCountOf(rows, 'row')
}

const columnText = ({ columns }: AxonTable): string =>
  columns.map(({ name, type }) => (type === '' ? name : `${name} ${type}`)).join(', ')

interface SqlStatementResultProps {
  piece: SqlPiece
  result: SqlBatchResult['results'][number]
  isOnly: boolean
}

/** Result or error of one statement. */
const SqlStatementResult = ({ piece, result: { success, error }, isOnly }: SqlStatementResultProps) => (
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
