import { Scrolled } from '#components/ui/scrolled.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/browser/format.ts'
import { delimiterOf, parseCsv } from './csv.ts'

const maxRows = 1_000
const maxColumns = 100
const maxCells = 20_000

interface CsvPreviewProps {
  label: string
  fileName: string
  text: string
  /** Whether `text` is the whole file. */
  isWhole: boolean
}

/** The first rows as a table; the first one is its head. */
export const CsvPreview = ({ label, fileName, text, isWhole }: CsvPreviewProps) => {
  const { rows, hasMore } = parseCsv(text, delimiterOf(fileName, text), maxRows + 1)
  const [head = [], ...rest] = rows
  const columnCount = Math.max(0, ...rows.map(({ length }) => length))
  const columns = Array.from({ length: Math.min(columnCount, maxColumns) }, (_, index) => index)
  const shown = rest.slice(0, Math.floor(maxCells / Math.max(1, columns.length)))
  const isCut = hasMore || !isWhole || shown.length < rest.length
  return (
    <section aria-label={label} className="space-y-2">
      <p className="tabular text-sm text-muted">
        {isCut ? `First ${formatCount(shown.length)} rows shown` : `${formatCount(shown.length)} rows`}
        {columnCount > maxColumns && `, ${maxColumns} of ${formatCount(columnCount)} columns`}
      </p>
      <Scrolled className="max-h-[70dvh] overflow-auto rounded-md border border-line">
        <table className="border-separate border-spacing-0 text-left text-sm">
          <caption className="sr-only">{label}</caption>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col" className={`${cell} sticky top-0 bg-surface-1 font-medium`}>
                  <VisibleText max={200}>{head[column] ?? ''}</VisibleText>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity
              <tr key={index}>
                {columns.map((column) => (
                  <td key={column} className={`${cell} max-w-96 tabular`}>
                    <VisibleText max={200}>{row[column] ?? ''}</VisibleText>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolled>
    </section>
  )
}

const cell =
  'border-b border-line px-3 py-1 align-top whitespace-nowrap not-last:border-r overflow-hidden text-ellipsis'
