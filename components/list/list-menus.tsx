'use client'
import dynamic from 'next/dynamic'
import { type ReactNode, useState } from 'react'
import { copySampleItems } from '#components/layout/code-samples.tsx'
import { Button } from '#components/ui/button.tsx'
import { DropdownMenu, type MenuItem } from '#components/ui/dropdown-menu.tsx'
import { formatCount } from '#lib/browser/format.ts'
import { type ExportFormat, exportFormats, saveRows } from '#lib/browser/lists/export.ts'
import { type Column, exportColumns } from './column.ts'
import type { ColumnDialog as LoadedColumnDialog } from './column-dialog.tsx'
import { type ListCall, listSamples } from './copy-as.ts'
import type { ExportDialog as LoadedExportDialog } from './export-dialog.tsx'
import type { ListParams, ListSource } from './list-source.ts'
import type { MetadataKeys } from './metadata-filter.tsx'
import type { ChosenColumns } from './use-columns.ts'
import { ListTools, ViewMenu, type ViewMenuProps } from './view-menu.tsx'

// `dynamic` would lose the type parameters.
const ColumnDialog = dynamic(
  async () => (await import('./column-dialog.tsx')).ColumnDialog,
) as typeof LoadedColumnDialog
const ExportDialog = dynamic(
  async () => (await import('./export-dialog.tsx')).ExportDialog,
) as typeof LoadedExportDialog

interface ListMenusProps<Params extends ListParams, ListQuery, Page, PageParam, Row extends { id: string }> {
  source: ListSource<Params, ListQuery, Page, PageParam, Row>
  /** From `useListQuery`. */
  list: {
    params: Params
    rows: readonly Row[]
    selectedRows: readonly Row[]
    canSort: boolean
  } & ViewMenuProps<Row>['list']
  columns: ChosenColumns<Row>
  call: ListCall<Params>
  metadataKeys?: MetadataKeys
  serviceUrl: string
  children?: ReactNode
}

type OpenDialog = { name: 'columns' } | { name: 'export'; format: ExportFormat }

export const ListMenus = <Params extends ListParams, ListQuery, Page, PageParam, Row extends { id: string }>({
  source,
  list,
  columns,
  call,
  metadataKeys,
  serviceUrl,
  children,
}: ListMenusProps<Params, ListQuery, Page, PageParam, Row>) => {
  const [dialog, setDialog] = useState<OpenDialog>()
  const { params, rows, selectedRows } = list
  const close = () => setDialog(undefined)
  const exportRows = (scope: string, rows: readonly Row[]) => exportItems(scope, source.nouns, rows, columns.shown)
  const menus: Record<string, MenuItem[]> = {
    Export: [
      ...formatItems('all matching', (format) => setDialog({ name: 'export', format })),
      ...exportRows(`${formatCount(rows.length)} shown`, rows),
      ...(selectedRows.length > 0 ? exportRows(`${formatCount(selectedRows.length)} selected`, selectedRows) : []),
    ],
    'Copy as': copySampleItems({ samples: () => listSamples({ source, call, params }, serviceUrl) }),
  }
  return (
    <ListTools>
      <ViewMenu list={list} />
      <Button size="sm" variant="ghost" onClick={() => setDialog({ name: 'columns' })}>
        Columns
      </Button>
      {Object.entries(menus).map(([label, items]) => (
        <DropdownMenu
          key={label}
          label={label}
          items={items}
          trigger={
            <Button size="sm" variant="ghost">
              {label}
            </Button>
          }
        />
      ))}
      {children}
      {dialog?.name === 'columns' && (
        <ColumnDialog columns={columns} metadataKeys={metadataKeys} rows={rows} onClose={close} />
      )}
      {dialog?.name === 'export' && (
        <ExportDialog
          source={source}
          params={params}
          format={dialog.format}
          columns={columns.shown}
          list={list}
          onClose={close}
        />
      )}
    </ListTools>
  )
}

const formatItems = (scope: string, onSelect: (format: ExportFormat) => unknown): MenuItem[] => [
  { heading: scope.charAt(0).toUpperCase() + scope.slice(1) },
  ...(Object.keys(exportFormats) as ExportFormat[]).map((format) => ({
    label: `${exportFormats[format]}, ${scope}`,
    onSelect: () => void onSelect(format),
  })),
]

export const exportItems = <Row extends { id: string }>(
  scope: string,
  nouns: string,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): MenuItem[] => formatItems(scope, (format) => saveRows(nouns, format, rows, exportColumns(columns)))
