'use client'
import Link from 'next/link'
import { Fragment, memo, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { classes } from './classes.ts'
import type { RuledColumn } from './column-rules.ts'

export interface Column<Row> {
  id: string
  header: ReactNode
  cell: (row: Row) => ReactNode
  align?: 'right'
  /** A number is of pixels, and chosen by hand; columns without a width share what is left. */
  width?: RuledColumn['width']
  /** Of a column without a width. */
  minWidthRem?: number
  /** 1 and 2 stay in the row; others leave where there is no room, the highest first, for the card the row opens into. */
  priority?: number
  mono?: boolean
  sortable?: boolean
  /** About how many lines it takes of a row: on a wide table the row is as high as it needs, and nothing is cut off. */
  lines?(row: Row): number
}

interface TableRowProps<Row> {
  columns: readonly Column<Row>[]
  nameAt: number
  rowActions?: ((row: Row) => ReactNode) | undefined
  row: Row
  rowId: string
  index: number
  href?: string
  className?: string
  isOpen: boolean
  hasCard: boolean
  isCurrent: boolean
  /** Undefined: rows are not selected in this table. */
  isSelected?: boolean
  selectLabel?: (row: Row) => string
  onSelect?: (key: string, range: boolean) => void
  onToggle: (key: string) => void
  onCardHeight: (key: string, height: number) => void
}

const TableRowView = <Row,>(props: TableRowProps<Row>) => {
  const { row, rowId, index, columns, nameAt, href, rowActions, className, isOpen, hasCard, isCurrent, isSelected } =
    props
  return (
    <>
      <tr
        data-key={rowId}
        data-row={href ? undefined : ''}
        tabIndex={href ? undefined : -1}
        aria-rowindex={index + 2}
        aria-selected={isSelected ?? (isCurrent || undefined)}
        className={classes(rowClasses, (isCurrent || isSelected) && 'bg-accent-soft', className)}
      >
        {isSelected !== undefined && (
          <td className={classes(cellClasses, selectClasses, isSelected && 'shadow-[inset_2px_0_var(--accent)]')}>
            {/* With the line below it the cell would be a pixel higher than the rows are reckoned to be. */}
            <label className="relative z-[1] -mb-px flex h-(--row-height) min-w-(--select-width) cursor-pointer items-center justify-center select-none">
              <input
                type="checkbox"
                aria-label={props.selectLabel?.(row)}
                className="size-4 accent-(--accent-solid)"
                checked={isSelected}
                onChange={({ nativeEvent }) => props.onSelect?.(rowId, (nativeEvent as MouseEvent).shiftKey === true)}
              />
            </label>
          </td>
        )}
        {columns.map((column, at) => {
          const className = classes(
            column.lines ? growingClasses : valueClasses,
            at === nameAt ? nameWidth : valueWidth,
            column.align === 'right' && 'tabular text-right',
            column.mono && 'font-mono text-sm',
          )
          const content = column.cell(row)
          if (at !== nameAt)
            return (
              <td key={column.id} data-column={at} className={className}>
                {content}
              </td>
            )
          return (
            <th key={column.id} scope="row" data-column={at} className={classes(className, 'font-medium')}>
              {href ? (
                // The link covers its row, so that the whole row opens in all the ways a link does.
                <Link
                  data-row=""
                  href={href}
                  prefetch={false}
                  className={classes(rowLinkClasses, !column.lines && 'truncate')}
                >
                  {content}
                </Link>
              ) : (
                content
              )}
            </th>
          )
        })}
        {rowActions && (
          <td className={classes(cellClasses, wideOnly, 'px-1! text-right')}>
            <div className="pointer-fine:opacity-0 inline-flex items-center justify-end gap-1 group-focus-within/row:opacity-100 group-hover/row:opacity-100 has-data-[state=open]:opacity-100">
              {rowActions(row)}
            </div>
          </td>
        )}
        {hasCard && (
          <td data-more="" className={classes(cellClasses, 'px-0!')}>
            <button
              type="button"
              aria-expanded={isOpen}
              aria-label={isOpen ? 'Show less' : 'Show more'}
              onClick={() => props.onToggle(rowId)}
              className="-mb-px flex h-(--row-height) w-11 items-center justify-center rounded-md text-2xl text-muted before:transition-transform before:content-['›'] hover:bg-surface-3 aria-expanded:before:rotate-90"
            />
          </td>
        )}
      </tr>
      {hasCard && isOpen && (
        <CardRow onHeight={(height) => props.onCardHeight(rowId, height)}>
          <Card row={row} columns={columns} rowActions={rowActions} />
        </CardRow>
      )}
    </>
  )
}

/** Scrolling draws the table anew, but only the rows that come into it. */
export const TableRow = memo(TableRowView) as typeof TableRowView

interface CardRowProps {
  onHeight: (height: number) => void
  children: ReactNode
}

const CardRow = ({ onHeight, children }: CardRowProps) => {
  const element = useRef<HTMLTableRowElement>(null)
  const [cells, setCells] = useState(1)
  const report = useRef(onHeight)
  useEffect(() => {
    report.current = onHeight
  })
  useLayoutEffect(() => {
    const row = element.current
    if (!row) return
    const measure = () => {
      // A cell over more columns than there are would add some.
      const above = [...((row.previousElementSibling as HTMLTableRowElement | null)?.cells ?? [])]
      setCells(above.filter((cell) => cell.offsetWidth > 0).length || 1)
      report.current(row.offsetHeight)
    }
    const observer = new ResizeObserver(measure)
    observer.observe(row)
    return () => {
      observer.disconnect()
      report.current(0)
    }
  }, [])
  return (
    <tr ref={element} data-more="" className="bg-surface-1">
      <td colSpan={cells} className="border-b border-line px-3 py-3">
        {children}
      </td>
    </tr>
  )
}

const Card = <Row,>({
  row,
  columns,
  rowActions,
}: {
  row: Row
  columns: readonly Column<Row>[]
  rowActions?: (row: Row) => ReactNode
}) => (
  <div className="space-y-3">
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] items-baseline gap-x-4 gap-y-2">
      {columns.map(
        (column, at) =>
          isDroppable(column) && (
            <Fragment key={column.id}>
              <dt data-card={at} className="text-sm text-muted">
                {column.header}
              </dt>
              <dd
                data-card={at}
                className={classes('min-w-0 break-words *:whitespace-normal', column.mono && 'font-mono text-sm')}
              >
                {column.cell(row)}
              </dd>
            </Fragment>
          ),
      )}
    </dl>
    {rowActions && <div className={classes(narrowOnly, 'flex flex-wrap gap-2')}>{rowActions(row)}</div>}
  </div>
)

export const isDroppable = ({ priority = 2 }: Pick<Column<never>, 'priority'>) => priority > 2

export const wideOnly = 'hidden @2xl:table-cell'
/** On a narrow screen the name has what the value beside it leaves, which is as wide as what it holds. */
export const nameWidth = 'max-w-0 @2xl:max-w-none'
export const valueWidth = 'max-w-[45cqw] @2xl:max-w-none'
/** Wide enough for a thumb where there is no pointer. */
export const selectClasses = 'w-(--select-width) px-0! [--select-width:2.75rem] @2xl:[--select-width:2.25rem]'
export const narrowOnly = '@2xl:hidden'
const cellClasses = 'h-(--row-height) border-b border-line px-2 @2xl:px-3 py-0'
// A row keeps its height whatever it holds.
const valueClasses = `${cellClasses} truncate [&_.flex-wrap]:flex-nowrap`
const growingClasses = `${cellClasses} py-0.5! break-words`

// What can be clicked in a row lies over the link that covers it.
const rowClasses =
  'group/row relative hover:bg-surface-1 focus-within:bg-surface-2 focus:bg-surface-2 -outline-offset-2 [&_td_:is(a,button)]:relative [&_td_:is(a,button)]:z-[1]'
const rowLinkClasses =
  'block after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-focus'
