'use client'
import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Play } from 'lucide-react'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { Field, TextField } from '#components/ui/field.tsx'
import { submitOnCtrlEnter, Textarea, useTakesKeys } from '#components/ui/input.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCountOf } from '#lib/browser/format.ts'
import { readTab, writeTab } from '#lib/browser/frame/tab-storage.ts'
import { axonMutations, axonQueries } from './queries.ts'
import { type AxonTable, axonTables, selectFrom } from './sql-queries.ts'
import { SqlStatementResult } from './sql-result.tsx'
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
          <div data-page-actions className="flex flex-wrap items-center gap-3">
            <Button type="submit" variant="primary" icon={Play} busy={run.isPending}>
              {pieces.length > 1 ? `Run ${pieces.length} statements` : 'Run statement'}
            </Button>
            <p className="text-sm text-muted">Ctrl+Enter to run.{pieces.length > 1 && ' Runs as one transaction.'}</p>
          </div>
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
