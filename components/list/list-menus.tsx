'use client'
import { Bookmark, Check, Code, Columns3, Download } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { DropdownMenu, type MenuItem } from '#components/ui/dropdown-menu.tsx'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
import { cutEnd } from '#components/ui/text.ts'
import { useCopy } from '#components/ui/use-copy.ts'
import { formatCount } from '#lib/console/frame/format.ts'
import type { ExportFields, ExportFormat } from '#lib/console/lists/export.ts'
import type { ListSource, ListView } from '#lib/console/lists/list-source.ts'
import type { SavedView } from '#lib/console/lists/saved-views.ts'
import type { ColumnDialogProps } from './column-dialog.tsx'
import type { WholeExportProps } from './whole-export.tsx'

// What only a press asks for comes with the press.
const ColumnDialog = loadOnUse(async () => (await import('./column-dialog.tsx')).ColumnDialog)
const WholeExport = loadOnUse<WholeExportProps>(async () => (await import('./whole-export.tsx')).WholeExport)
const SavedViewsDialog = loadOnUse(async () => (await import('./saved-views-dialog.tsx')).SavedViewsDialog)
const savedViews = () => import('#lib/console/lists/saved-views.ts')
const snippets = () => import('#lib/console/api/snippets.ts')
const exports = () => import('#lib/console/lists/export.ts')

interface ListMenusProps<View extends ListView, Page, Param, Row extends { id: string }>
  extends Pick<ColumnDialogProps, 'columns' | 'metadataKeys'> {
  source: ListSource<View, Page, Param, Row>
  /** As `useListPage` made it. */
  page: { view: View; rows: readonly Row[]; selectedRows: readonly Row[] }
  fields: () => Promise<ExportFields<Row>>
  serviceUrl: string
  /** After the menus. */
  children?: ReactNode
}

/** What can be done with any list: choosing its columns, taking its rows away, copying it as a call, and naming it as it is. */
export const ListMenus = <View extends ListView, Page, Param, Row extends { id: string }>(
  props: ListMenusProps<View, Page, Param, Row>,
) => {
  const { source, page, columns, metadataKeys, fields, serviceUrl, children } = props
  const { view, rows, selectedRows } = page
  const { result, copy } = useCopy('the call')
  const [isChoosing, setIsChoosing] = useState(false)
  const [isSaving, setIsSaving] = useState(false)
  const [views, setViews] = useState<readonly SavedView[]>([])
  // A view begins with the newest row there is when it is opened.
  const href = source.path({ ...view, starting_after: undefined })
  /** Told apart by number: another one begins anew. */
  const [whole, setWhole] = useState<{ format: ExportFormat; number: number } | null>(null)
  return (
    <div data-page-actions className="ml-auto flex flex-wrap items-center gap-1">
      <Button size="sm" variant="ghost" icon={Columns3} onClick={() => setIsChoosing(true)}>
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
          ...formatItems('all that match', (format) =>
            setWhole((last) => ({ format, number: (last?.number ?? 0) + 1 })),
          ),
          ...exportItems('shown', rows, props),
          ...(selectedRows.length > 0 ? exportItems('selected', selectedRows, props) : []),
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
          { label: 'curl', onSelect: async () => copy((await snippets()).asCurl({ source, view }, serviceUrl)) },
          {
            label: 'TypeScript',
            onSelect: async () => copy((await snippets()).asTypeScript({ source, view }, serviceUrl)),
          },
        ]}
      />
      <DropdownMenu
        label="Saved views"
        trigger={
          <Button size="sm" variant="ghost" icon={Bookmark}>
            Views
          </Button>
        }
        onOpenChange={(isOpen) => isOpen && void readViews(href).then(setViews)}
        items={[
          { label: 'Save or manage views …', onSelect: () => setIsSaving(true) },
          ...views.map((view) => ({ label: cutEnd(view.name, 60), href: view.href })),
        ]}
      />
      {children}
      {isSaving && <SavedViewsDialog nouns={source.nouns} href={href} onClose={() => setIsSaving(false)} />}
      {isChoosing && (
        <ColumnDialog
          columns={columns}
          metadataKeys={metadataKeys}
          seenKeys={() => seenKeys(rows)}
          onClose={() => setIsChoosing(false)}
        />
      )}
      {whole && (
        <WholeExport
          key={whole.number}
          source={source as unknown as WholeExportProps['source']}
          view={view}
          format={whole.format}
          columns={columns.choices}
          fields={fields as WholeExportProps['fields']}
          onClose={() => setWhole(null)}
        />
      )}
    </div>
  )
}

const formats: readonly (readonly [ExportFormat, string])[] = [
  ['csv', 'CSV'],
  ['json', 'JSON'],
  ['ndjson', 'JSON lines'],
]

const formatItems = (heading: string, onSelect: (format: ExportFormat) => unknown): MenuItem[] => [
  { heading },
  ...formats.map(([format, word]) => ({ label: `${word}, ${heading}`, onSelect: () => void onSelect(format) })),
]

interface Exported<Row> extends Pick<ColumnDialogProps, 'columns'> {
  source: { nouns: string }
  fields: () => Promise<ExportFields<Row>>
}

/** Exactly what is on the page: these rows in this order, with these columns. */
export const exportItems = <Row,>(
  what: string,
  rows: readonly Row[],
  { source, columns, fields }: Exported<Row>,
): MenuItem[] =>
  formatItems(`${formatCount(rows.length)} ${what}`, async (format) => {
    const { saveRows, exportColumns } = await exports()
    saveRows(source.nouns, format, rows, exportColumns(columns.choices, await fields()))
  })

const readViews = async (href: string) => {
  const { readViews, browserStore, viewsOfList } = await savedViews()
  return viewsOfList(readViews(browserStore()), href)
}

const seenKeys = (rows: readonly object[]): string[] =>
  [
    ...new Set(rows.slice(0, 500).flatMap((row) => Object.keys((row as { metadata?: object | null }).metadata ?? {}))),
  ].sort()
