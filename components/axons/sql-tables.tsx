'use client'
import { useQuery } from '@tanstack/react-query'
import { InlineError } from '#components/ui/error-state.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCountOf } from '#lib/browser/format.ts'
import { type AxonTable, axonTables } from './sql-queries.ts'

interface SqlTablesProps {
  axonId: string
  onChoose: (table: AxonTable) => void
}

/** Tables of the axon's database. Clicking one inserts a SELECT. */
export const SqlTables = ({ axonId, onChoose }: SqlTablesProps) => {
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
