'use client'
import type { RowData, Column as TableColumn, Row as TableRowModel } from '@tanstack/react-table'
import { ChevronRight } from 'lucide-react'
import Link from 'next/link'
import { Fragment, type MouseEvent, memo, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { classes } from '#components/ui/classes.ts'
import { type features, isHideable, narrowOnly, renderCell } from './column.ts'

type Features = typeof features

interface TableRowProps<Row extends RowData> {
  row: TableRowModel<Features, Row>
  columns: readonly TableColumn<Features, Row>[]
  nameIndex: number
  index: number
  href?: string | undefined
  isOpen?: boolean | undefined
  onToggle?: ((row: Row) => void) | undefined
  rowActions?: ((row: Row) => ReactNode) | undefined
  className?: string
  isExpanded: boolean
  hasCard: boolean
  isPinned: boolean
  isCurrent: boolean
  isSelected?: boolean
  selectLabel?: (row: Row) => string
  onSelect: (id: string, isRange: boolean) => void
  onExpand: (id: string) => void
  onCardHeight: (id: string, height: number) => void
}

const TableRowView = <Row extends RowData>(props: TableRowProps<Row>) => {
  const { row, index, nameIndex, href, isOpen, rowActions, className, isExpanded, hasCard, isCurrent } = props
  const { isSelected, isPinned } = props
  const isWhole = href === undefined && isOpen === undefined
  return (
    <>
      <tr
        data-key={row.id}
        data-row={isWhole ? '' : undefined}
        tabIndex={isWhole ? -1 : undefined}
        aria-rowindex={index + 2}
        aria-selected={isSelected ?? (isCurrent || undefined)}
        // The row's link covers only the pinned name. By keyboard it is the link that is followed.
        onClick={isPinned && href ? followRow : undefined}
        className={classes(
          rowClasses,
          isCurrent || isSelected ? 'bg-accent-soft' : isPinned && 'bg-surface-0',
          isPinned && href && 'cursor-pointer',
          className,
        )}
      >
        {isSelected !== undefined && (
          <td
            data-select=""
            className={classes(cellClasses, selectClasses, isSelected && 'shadow-[inset_2px_0_var(--accent)]')}
          >
            {/* The margin makes up for the border, which would make the row one pixel too high. */}
            <label className="relative z-[1] -mb-px flex h-(--row-height) min-w-(--select-width) cursor-pointer items-center justify-center select-none">
              <input
                type="checkbox"
                aria-label={props.selectLabel?.(row.original)}
                className="size-4 accent-(--accent-solid)"
                checked={isSelected}
                onChange={({ nativeEvent }) =>
                  props.onSelect(row.id, (nativeEvent as globalThis.MouseEvent).shiftKey === true)
                }
              />
            </label>
          </td>
        )}
        {row.getAllCells().map((cell, at) => {
          const { meta = {} } = cell.column.columnDef
          const className = classes(
            meta.lines ? growingClasses : valueClasses,
            at === nameIndex ? nameWidth : valueWidth,
            meta.align === 'right' && 'tabular text-right',
            meta.mono && 'font-mono text-sm',
          )
          const content = renderCell(cell.column.columnDef, cell.getContext())
          if (at !== nameIndex)
            return (
              <td key={cell.id} data-column={at} className={className}>
                {content}
              </td>
            )
          return (
            <th key={cell.id} scope="row" data-column={at} className={classes(className, 'font-medium')}>
              {href ? (
                // Covers the whole row, so the row can be opened in every way a link can.
                <Link
                  data-row=""
                  href={href}
                  prefetch={false}
                  className={classes(rowLinkClasses, !meta.lines && 'truncate')}
                >
                  {content}
                </Link>
              ) : isOpen === undefined ? (
                content
              ) : (
                <button
                  type="button"
                  data-row=""
                  aria-expanded={isOpen}
                  onClick={() => props.onToggle?.(row.original)}
                  className={classes(rowLinkClasses, 'w-full text-left')}
                >
                  <span className="flex min-w-0 items-center gap-1">
                    <ChevronRight aria-hidden className={classes('size-4 shrink-0', isOpen && 'rotate-90')} />
                    {content}
                  </span>
                </button>
              )}
            </th>
          )
        })}
        {rowActions && (
          <td className={classes(cellClasses, wideOnly, 'px-1! text-right')}>
            <div className="pointer-fine:opacity-0 inline-flex items-center justify-end gap-1 group-focus-within/row:opacity-100 group-hover/row:opacity-100 has-data-[state=open]:opacity-100">
              {rowActions(row.original)}
            </div>
          </td>
        )}
        {hasCard && (
          <td data-more="" className={classes(cellClasses, 'px-0!')}>
            <button
              type="button"
              aria-expanded={isExpanded}
              aria-label={isExpanded ? 'Show less' : 'Show more'}
              onClick={() => props.onExpand(row.id)}
              className="-mb-px flex h-(--row-height) w-11 items-center justify-center rounded-md text-2xl text-muted before:transition-transform before:content-['›'] hover:bg-surface-3 aria-expanded:before:rotate-90"
            />
          </td>
        )}
      </tr>
      {hasCard && isExpanded && <Card {...props} />}
    </>
  )
}

const followRow = ({ target, currentTarget, ctrlKey, metaKey, shiftKey }: MouseEvent<HTMLElement>) => {
  if (!(target instanceof Element) || target.closest('a, button, label, input')) return
  const click = new globalThis.MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey })
  currentTarget.querySelector('a[data-row]')?.dispatchEvent(click)
}

/** Memoized by the row's data, which react-query keeps while unchanged; TanStack creates new row objects for every response. */
export const TableRow = memo(TableRowView, (before, after) =>
  Object.entries(after).every(([name, value]) =>
    name === 'row' ? before.row.original === after.row.original : before[name as keyof typeof before] === value,
  ),
) as typeof TableRowView

const Card = <Row extends RowData>({ row, rowActions, onCardHeight }: TableRowProps<Row>) => {
  const element = useRef<HTMLTableRowElement>(null)
  const [columnCount, setColumnCount] = useState(1)
  const { id } = row
  const report = useRef(onCardHeight)
  useEffect(() => {
    report.current = onCardHeight
  })
  useLayoutEffect(() => {
    const card = element.current
    if (!card) return
    const measure = () => {
      // A colSpan beyond the visible columns would add some.
      const cells = [...((card.previousElementSibling as HTMLTableRowElement | null)?.cells ?? [])]
      setColumnCount(cells.filter((cell) => cell.offsetWidth > 0).length || 1)
      report.current(id, card.offsetHeight)
    }
    const observer = new ResizeObserver(measure)
    observer.observe(card)
    return () => {
      observer.disconnect()
      report.current(id, 0)
    }
  }, [id])
  return (
    <tr ref={element} data-more="" className="bg-surface-1">
      <td colSpan={columnCount} className="border-b border-line px-3 py-3">
        <div className="space-y-3">
          <dl className="grid grid-cols-[auto_minmax(0,1fr)] items-baseline gap-x-4 gap-y-2">
            {row.getAllCells().map((cell, at) => {
              const { columnDef } = cell.column
              return (
                isHideable(columnDef.meta) && (
                  <Fragment key={cell.id}>
                    <dt data-card={at} className="text-sm text-muted">
                      {headerOf(row.table, at)}
                    </dt>
                    <dd
                      data-card={at}
                      className={classes(
                        'min-w-0 break-words *:whitespace-normal',
                        columnDef.meta?.mono && 'font-mono text-sm',
                      )}
                    >
                      {renderCell(columnDef, cell.getContext())}
                    </dd>
                  </Fragment>
                )
              )
            })}
          </dl>
          {rowActions && <div className={classes(narrowOnly, 'flex flex-wrap gap-2')}>{rowActions(row.original)}</div>}
        </div>
      </td>
    </tr>
  )
}

const headerOf = <Row extends RowData>(table: TableRowModel<Features, Row>['table'], at: number): ReactNode => {
  const header = table.getLeafHeaders()[at]
  const content = header?.column.columnDef.header
  return typeof content === 'function' ? content(header?.getContext() as never) : content
}

export const wideOnly = 'hidden @2xl:table-cell print:hidden'
/** On narrow screens the value next to the name takes its content's width, and the name the rest. */
export const nameWidth = 'max-w-0 @2xl:max-w-none'
export const valueWidth = 'max-w-[45cqw] @2xl:max-w-none'
/** Wide enough for a thumb on a touch screen. */
export const selectClasses =
  'w-(--select-width) px-0! [--select-width:2.75rem] @2xl:[--select-width:2.25rem] print:hidden'
const cellClasses = 'h-(--row-height) border-b border-line px-2 @2xl:px-3 py-0'
const valueClasses = `${cellClasses} truncate [&_.flex-wrap]:flex-nowrap`
const growingClasses = `${cellClasses} py-0.5! break-words`

const rowClasses =
  'group/row relative hover:bg-surface-1 focus-within:bg-surface-2 focus:bg-surface-2 -outline-offset-2 [&_td_:is(a,button)]:relative [&_td_:is(a,button)]:z-[1]'
const rowLinkClasses =
  'block after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-focus'
