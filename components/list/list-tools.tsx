'use client'
import type { MenuItem } from '#components/ui/dropdown-menu.tsx'
import { cutEnd } from '#components/ui/text.ts'
import { toast } from '#components/ui/toast.tsx'
import { writeClipboard } from '#components/ui/use-copy.ts'
import { readColumns } from '#lib/browser/address/columns/column-text.ts'
import { asCurl, asTypeScript } from '#lib/browser/api/snippets.ts'
import { formatCount } from '#lib/browser/format.ts'
import { browserStore } from '#lib/browser/frame/kept-items.ts'
import {
  type ExportFields,
  type ExportFormat,
  exportColumns,
  exportFormats,
  saveRows,
} from '#lib/browser/lists/export.ts'
import type { ListSource, ListView } from '#lib/browser/lists/list-source.ts'
import { readViews, viewsOfList } from '#lib/browser/lists/saved-views.ts'
import { ColumnDialog, type ColumnDialogProps } from './column-dialog.tsx'
import { choicesOf, keepColumns } from './keep-columns.ts'
import { SavedViewsDialog } from './saved-views-dialog.tsx'
import { WholeExport } from './whole-export.tsx'

export interface ListToolsProps<View extends ListView, Row>
  extends Pick<ColumnDialogProps, 'columns' | 'metadataKeys'> {
  source: ListSource<View, unknown, unknown, Row>
  /** As `useListPage` made it. */
  page: { view: View; rows: readonly Row[]; selectedRows: readonly Row[] }
  fields: () => Promise<ExportFields<Row>>
  serviceUrl: string
}

/** What was chosen of the menus of a list. An export of the whole list is told apart by its number: another begins anew. */
export type AskedOfList =
  | { what: 'columns' | 'views' | 'nothing' }
  | { what: 'whole'; format: ExportFormat; number: number }

// One download for all that a list does on use.
export { choicesOf, keepColumns, readColumns }

interface Identified {
  id: string
}

type Tools = ListToolsProps<ListView, Identified>

let exportsAsked = 0

export const menuItems = (
  menu: 'Export' | 'Copy as' | 'Views',
  list: Tools,
  ask: (asked: AskedOfList) => void,
): MenuItem[] => {
  const { source, page, serviceUrl } = list
  const { view, rows, selectedRows } = page
  if (menu === 'Export')
    return [
      ...formatItems('all that match', (format) => {
        exportsAsked += 1
        ask({ what: 'whole', format, number: exportsAsked })
      }),
      ...exportItems(`${formatCount(rows.length)} shown`, rows, list),
      ...(selectedRows.length > 0
        ? exportItems(`${formatCount(selectedRows.length)} selected`, selectedRows, list)
        : []),
    ]
  if (menu === 'Copy as')
    return [
      { heading: 'This list as a call' },
      { label: 'curl', onSelect: () => void copy('curl', asCurl({ source, view }, serviceUrl)) },
      { label: 'TypeScript', onSelect: () => void copy('TypeScript', asTypeScript({ source, view }, serviceUrl)) },
    ]
  return [
    { label: 'Save or manage views …', onSelect: () => ask({ what: 'views' }) },
    ...viewsOfList(readViews(browserStore()), hrefOf(list)).map(({ name, href }) => ({
      label: cutEnd(name, 60),
      href,
    })),
  ]
}

interface ListDialogsProps extends Tools {
  asked: AskedOfList
  onClose: () => void
}

export const ListDialogs = ({ asked, onClose, ...list }: ListDialogsProps) => {
  const { source, page, columns, metadataKeys, fields } = list
  switch (asked.what) {
    case 'columns':
      return (
        <ColumnDialog
          columns={columns}
          metadataKeys={metadataKeys}
          seenKeys={() => seenKeys(page.rows)}
          onClose={onClose}
        />
      )
    case 'views':
      return <SavedViewsDialog nouns={source.nouns} href={hrefOf(list)} onClose={onClose} />
    case 'whole':
      return (
        <WholeExport
          key={asked.number}
          source={source}
          view={page.view}
          format={asked.format}
          columns={choicesOf(columns)}
          fields={fields}
          onClose={onClose}
        />
      )
    case 'nothing':
      return null
  }
}

/** A view begins with the newest row there is when it is opened. */
const hrefOf = ({ source, page }: Tools): string => source.path({ ...page.view, starting_after: undefined })

const copy = async (what: string, text: string) => {
  if (await writeClipboard(text)) toast.ok(`Copied the list as ${what}`)
  else toast.danger('The browser refused to copy')
}

const formatItems = (what: string, onSelect: (format: ExportFormat) => unknown): MenuItem[] => [
  { heading: what.charAt(0).toUpperCase() + what.slice(1) },
  ...(Object.keys(exportFormats) as ExportFormat[]).map((format) => ({
    label: `${exportFormats[format]}, ${what}`,
    onSelect: () => void onSelect(format),
  })),
]

type Exported<Row> = Pick<ListToolsProps<never, Row>, 'columns' | 'fields'> & { source: { nouns: string } }

/** Exactly what is on the page: these rows in this order, with these columns. */
export const exportItems = <Row,>(
  what: string,
  rows: readonly Row[],
  { source, columns, fields }: Exported<Row>,
): MenuItem[] =>
  formatItems(what, async (format) =>
    saveRows(source.nouns, format, rows, exportColumns(choicesOf(columns), await fields())),
  )

const seenKeys = (rows: readonly object[]): string[] =>
  [
    ...new Set(rows.slice(0, 500).flatMap((row) => Object.keys((row as { metadata?: object | null }).metadata ?? {}))),
  ].sort()
