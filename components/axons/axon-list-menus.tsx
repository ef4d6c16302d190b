'use client'
import { Check, Code, Columns3, Download, X } from 'lucide-react'
import { Button } from '#components/ui/button.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { DropdownMenu, type MenuItem } from '#components/ui/dropdown-menu.tsx'
import { useCopy } from '#components/ui/use-copy.ts'
import type { AxonView, ColumnChoice } from '#lib/console/address/axon-view.ts'
import { formatCount } from '#lib/console/frame/format.ts'
import type { Axon } from '#lib/contract/axons.ts'
import { exportColumns } from './axon-columns.tsx'

// What only a press asks for comes with the press.
const snippets = () => import('#lib/console/api/snippets.ts')
const exports = () => import('#lib/console/lists/export.ts')

interface AxonListMenusProps {
  view: AxonView
  columns: readonly ColumnChoice[]
  rows: readonly Axon[]
  selectedRows: readonly Axon[]
  serviceUrl: string
  onColumns: () => void
}

export const AxonListMenus = ({ view, columns, rows, selectedRows, serviceUrl, onColumns }: AxonListMenusProps) => {
  const { result, copy } = useCopy('the call')
  return (
    <>
      <Button size="sm" variant="ghost" icon={Columns3} onClick={onColumns}>
        Columns
      </Button>
      <DropdownMenu
        label="Export"
        trigger={
          <Button size="sm" variant="ghost" icon={Download}>
            Export
          </Button>
        }
        items={[
          ...exportItems(`${formatCount(rows.length)} shown`, rows, columns),
          ...(selectedRows.length > 0
            ? exportItems(`${formatCount(selectedRows.length)} selected`, selectedRows, columns)
            : []),
        ]}
      />
      <DropdownMenu
        label="Copy this list as a call"
        trigger={
          <Button size="sm" variant="ghost" icon={result === 'copied' ? Check : Code}>
            {result === 'copied' ? 'Copied' : 'Copy as'}
          </Button>
        }
        items={[
          { heading: 'This list as a call' },
          { label: 'curl', onSelect: async () => copy((await snippets()).asCurl(view, serviceUrl)) },
          { label: 'TypeScript', onSelect: async () => copy((await snippets()).asTypeScript(view, serviceUrl)) },
        ]}
      />
    </>
  )
}

/** Exactly what is on the page: these rows in this order, with these columns. */
const exportItems = (heading: string, rows: readonly Axon[], columns: readonly ColumnChoice[]): MenuItem[] => [
  { heading },
  {
    label: `CSV, ${heading}`,
    onSelect: async () => {
      const { saveText, toCsv } = await exports()
      saveText('axons', 'csv', toCsv(rows, exportColumns(columns)))
    },
  },
  {
    label: `JSON, ${heading}`,
    onSelect: async () => {
      const { saveText, toJson } = await exports()
      saveText('axons', 'json', toJson(rows, exportColumns(columns)))
    },
  },
]

interface SelectionBarProps {
  rows: readonly Axon[]
  columns: readonly ColumnChoice[]
  onClear: () => void
}

/** What can be done with the selected rows that are shown. */
export const SelectionBar = ({ rows, columns, onClear }: SelectionBarProps) => (
  <section
    aria-label="Selected axons"
    className="animate-appear sticky bottom-3 z-10 mx-auto mt-3 flex w-fit max-w-full flex-wrap items-center gap-1 rounded-md bg-overlay py-1 pr-1 pl-3 shadow-overlay"
  >
    <p role="status" className="tabular mr-2 font-medium">
      {formatCount(rows.length)} selected
    </p>
    <CopyButton what="ids" text={() => rows.map(({ id }) => id).join('\n')} />
    <DropdownMenu
      label="Export selected"
      trigger={
        <Button size="sm" variant="ghost" icon={Download}>
          Export selected
        </Button>
      }
      items={exportItems(`${formatCount(rows.length)} selected`, rows, columns)}
    />
    <Button size="sm" variant="ghost" icon={X} onClick={onClear}>
      Clear selection
    </Button>
  </section>
)
