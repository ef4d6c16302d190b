'use client'
import type { RowData } from '@tanstack/react-table'
import dynamic from 'next/dynamic'
import { type ReactNode, useState } from 'react'
import { applyPreference } from '#components/layout/theme.tsx'
import { Button } from '#components/ui/button.tsx'
import { useChoice } from '#components/ui/choice/browser-choice.ts'
import { DropdownMenu, type MenuItem } from '#components/ui/dropdown-menu.tsx'
import { PageActions } from '#components/ui/page-actions.tsx'
import { cutEnd } from '#components/ui/text.ts'
import type { Column } from './column.ts'
import { wideRem } from './column-rules.ts'
import type { Sort } from './data-table.tsx'
import { pathOf, type SavedView, savedViews } from './saved-views.ts'

const ViewsDialog = dynamic(async () => (await import('./views-dialog.tsx')).ViewsDialog)

export interface ViewMenuProps<Row extends RowData> {
  /** From `useListQuery`. */
  list: {
    address: string
    sortColumns: readonly Column<Row>[]
    table: { sort: Sort | null; onSort?: (sort: Sort | null) => void }
  }
}

export const ListTools = ({ children }: { children: ReactNode }) => (
  <PageActions className="ml-auto flex flex-wrap items-center justify-end gap-1">{children}</PageActions>
)

/** Order, row height and saved views of a list. On phones, columns without a header are sorted here. */
export const ViewMenu = <Row extends RowData>({ list }: ViewMenuProps<Row>) => {
  const [opened, setOpened] = useState<{ views: readonly SavedView[]; isNarrow: boolean }>()
  const [isEditing, setIsEditing] = useState(false)
  const density = useChoice('density')
  const { address, sortColumns } = list
  const { sort, onSort } = list.table
  const views = (opened?.views ?? []).filter(({ href }) => pathOf(href) === pathOf(address))
  const items: MenuItem[] = [
    ...(onSort ? [{ heading: 'Sort by' }] : []),
    ...sortColumns.flatMap((column): MenuItem[] => {
      const { id = '', header } = column
      if (!onSort || !('accessorFn' in column || 'accessorKey' in column) || typeof header !== 'string') return []
      const isSorted = sort?.column === id
      return [
        {
          label: header,
          checked: isSorted,
          hint: isSorted && (sort.descending ? 'descending' : 'ascending'),
          // Like a header: ascending, descending, none.
          onSelect: () =>
            onSort(
              !isSorted ? { column: id, descending: false } : sort.descending ? null : { column: id, descending: true },
            ),
        },
      ]
    }),
    ...(opened?.isNarrow
      ? []
      : ([
          { heading: 'Density' },
          { label: 'Comfortable', checked: density === '', onSelect: () => applyPreference('density', '') },
          { label: 'Compact', checked: density === 'compact', onSelect: () => applyPreference('density', 'compact') },
        ] satisfies MenuItem[])),
    { heading: 'Saved views' },
    ...views.map(({ name, href }) => ({ label: cutEnd(name, 60), href })),
    { label: 'Save or edit views…', onSelect: () => setIsEditing(true) },
  ]
  return (
    <>
      <DropdownMenu
        label="View"
        items={items}
        onOpenChange={(isOpen) =>
          setOpened(
            isOpen
              ? // Rows of narrow lists are as high as a finger needs.
                { views: savedViews.read(), isNarrow: !matchMedia(`(width >= ${wideRem}rem)`).matches }
              : undefined,
          )
        }
        trigger={
          <Button size="sm" variant="ghost">
            View
          </Button>
        }
      />
      {isEditing && <ViewsDialog address={address} onClose={() => setIsEditing(false)} />}
    </>
  )
}
