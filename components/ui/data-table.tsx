'use client'
import { ChevronRight } from 'lucide-react'
import Link from 'next/link'
import { Fragment, type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import { classes } from './classes.ts'
import { isTyping } from './is-typing.ts'

export interface Column<Row> {
  id: string
  header: ReactNode
  cell: (row: Row) => ReactNode
  align?: 'right'
  /** A CSS width; columns without one share what is left. */
  width?: string
  /** 1 and 2 stay in the row on a narrow screen, 3 moves to the card the row opens into. */
  priority?: 1 | 2 | 3
  mono?: boolean
}

export interface DataTableProps<Row> {
  caption: string
  /** The first column names the row. */
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  /** Where Enter and a click on the row lead. */
  rowHref?: (row: Row) => string
  /** Shown at the row's end while the pointer or the focus is in it. */
  rowActions?: (row: Row) => ReactNode
  rowClassName?: (row: Row) => string | undefined
  selectedKey?: string
  /** The rows are of an earlier answer. */
  busy?: boolean
  footer?: ReactNode
}

/**
 * j and k move between rows from anywhere on the page, the arrow keys while the focus is in the table; Enter opens.
 * On a narrow screen a row keeps two columns and opens into a card with the others.
 */
export const DataTable = <Row,>(props: DataTableProps<Row>) => {
  const { caption, columns, rows, rowKey, rowHref, rowActions, rowClassName, selectedKey, busy, footer } = props
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const table = useRef<HTMLTableElement>(null)
  const end = useRef<HTMLDivElement>(null)
  const drawn = useDrawnRows(end, rows.length)
  useRowKeys(table)

  const toggle = (key: string) =>
    setOpened((before) => {
      const after = new Set(before)
      if (!after.delete(key)) after.add(key)
      return after
    })
  const hasCards = columns.some(({ priority }) => priority === 3) || rowActions !== undefined
  return (
    <div className="@container">
      <div className="overflow-x-auto @4xl:overflow-visible">
        <table
          ref={table}
          aria-busy={busy || undefined}
          aria-rowcount={drawn < rows.length ? rows.length + 1 : undefined}
          className={classes(
            'w-full table-fixed border-separate border-spacing-0 text-left',
            busy && 'opacity-60 transition-opacity',
          )}
        >
          <caption className="sr-only">{caption}</caption>
          <thead>
            <tr>
              {columns.map(({ id, header, width, ...column }) => (
                <th
                  key={id}
                  scope="col"
                  style={{ width }}
                  className={classes(headClasses, column.align === 'right' && 'text-right', cellVisibility(column))}
                >
                  {header}
                </th>
              ))}
              {rowActions && (
                <th scope="col" className={classes(headClasses, wideOnly, 'w-20')}>
                  <span className="sr-only">Actions</span>
                </th>
              )}
              {hasCards && (
                <th scope="col" className={classes(headClasses, narrowOnly, 'w-10')}>
                  <span className="sr-only">More</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, drawn).map((row) => {
              const key = rowKey(row)
              const isOpen = opened.has(key)
              const isSelected = key === selectedKey
              return (
                <Fragment key={key}>
                  <tr
                    data-row={rowHref ? undefined : ''}
                    tabIndex={rowHref ? undefined : -1}
                    aria-selected={isSelected || undefined}
                    className={classes(
                      'group/row relative',
                      rowClasses,
                      isSelected && 'bg-accent-soft',
                      rowClassName?.(row),
                    )}
                  >
                    {columns.map((column, index) => {
                      const shape = classes(
                        cellClasses,
                        column.align === 'right' && 'tabular text-right',
                        column.mono && 'font-mono text-sm',
                        cellVisibility(column),
                      )
                      // A row keeps its height whatever it holds.
                      const content = <div className="truncate [&_.flex-wrap]:flex-nowrap">{column.cell(row)}</div>
                      if (index > 0)
                        return (
                          <td key={column.id} className={shape}>
                            {content}
                          </td>
                        )
                      return (
                        <th key={column.id} scope="row" className={classes(shape, 'font-medium')}>
                          {rowHref ? (
                            // The link covers its row, so that the whole row opens in all the ways a link does.
                            <Link data-row="" href={rowHref(row)} prefetch={false} className={rowLinkClasses}>
                              {content}
                            </Link>
                          ) : (
                            content
                          )}
                        </th>
                      )
                    })}
                    {rowActions && (
                      <td className={classes(cellClasses, wideOnly, 'text-right')}>
                        <div className="pointer-fine:opacity-0 inline-flex items-center justify-end gap-1 group-focus-within/row:opacity-100 group-hover/row:opacity-100 has-data-[state=open]:opacity-100">
                          {rowActions(row)}
                        </div>
                      </td>
                    )}
                    {hasCards && (
                      <td className={classes(cellClasses, narrowOnly, 'px-1')}>
                        <button
                          type="button"
                          aria-expanded={isOpen}
                          aria-label={isOpen ? 'Show less' : 'Show more'}
                          onClick={() => toggle(key)}
                          className="flex size-8 items-center justify-center rounded-md text-muted hover:bg-surface-3"
                        >
                          <ChevronRight
                            aria-hidden
                            className={classes('size-4 transition-transform', isOpen && 'rotate-90')}
                          />
                        </button>
                      </td>
                    )}
                  </tr>
                  {hasCards && isOpen && (
                    <tr className={classes(narrowOnly, 'bg-surface-1')}>
                      <td colSpan={3} className="border-b border-line px-3 py-3">
                        <Card row={row} columns={columns} rowActions={rowActions} />
                      </td>
                    </tr>
                  )}
                </Fragment>
              )
            })}
          </tbody>
        </table>
      </div>
      <div ref={end} />
      {footer}
    </div>
  )
}

const rowsAtOnce = 100

/** How many rows to draw: more as the end of those comes near, as thousands at once would freeze the page. */
const useDrawnRows = (end: RefObject<HTMLElement | null>, length: number): number => {
  const [drawn, setDrawn] = useState(rowsAtOnce)
  const isWhole = drawn >= length
  useEffect(() => {
    if (isWhole || !end.current) return
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setDrawn(drawn + rowsAtOnce)
      },
      { rootMargin: '1500px' },
    )
    observer.observe(end.current)
    return () => observer.disconnect()
  }, [end, drawn, isWhole])
  return Math.min(drawn, length)
}

const Card = <Row,>({
  row,
  columns,
  rowActions,
}: Pick<DataTableProps<Row>, 'columns' | 'rowActions'> & { row: Row }) => (
  <div className="space-y-3">
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] items-baseline gap-x-4 gap-y-2">
      {columns
        .filter(({ priority }) => priority === 3)
        .map(({ id, header, cell, mono }) => (
          <Fragment key={id}>
            <dt className="text-sm text-muted">{header}</dt>
            <dd className={classes('min-w-0 break-words', mono && 'font-mono text-sm')}>{cell(row)}</dd>
          </Fragment>
        ))}
    </dl>
    {rowActions && <div className="flex flex-wrap gap-2">{rowActions(row)}</div>}
  </div>
)

const wideOnly = 'hidden @2xl:table-cell'
const narrowOnly = '@2xl:hidden'
const cellVisibility = ({ priority }: { priority?: 1 | 2 | 3 }) => priority === 3 && wideOnly

const headClasses =
  'z-10 h-8 @4xl:sticky @4xl:top-(--frame-top) border-b border-line bg-surface-0 px-3 text-sm font-medium whitespace-nowrap text-muted'
const cellClasses = 'h-9 border-b border-line px-3 py-0'
const rowClasses =
  'hover:bg-surface-1 focus-within:bg-surface-2 focus:bg-surface-2 -outline-offset-2 [&_td_:is(a,button)]:relative [&_td_:is(a,button)]:z-[1]'
const rowLinkClasses =
  'block after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-focus'

const steps: Record<string, number> = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 }

const useRowKeys = (table: RefObject<HTMLTableElement | null>) =>
  useEffect(() => {
    const move = (event: KeyboardEvent) => {
      const step = steps[event.key]
      const { activeElement } = document
      if (!step || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(activeElement))
        return
      const isInside = table.current?.contains(activeElement) ?? false
      if (event.key.startsWith('Arrow') && !isInside) return
      // A dialog or a menu over the page has the keys to itself.
      if (!isInside && document.querySelector('[role=dialog],[role=menu]')) return
      const targets = [...(table.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])]
      const current = targets.findIndex((each) => each === activeElement || each.closest('tr')?.contains(activeElement))
      const next = current === -1 ? (step === 1 ? 0 : targets.length - 1) : current + step
      if (!targets[next]) return
      event.preventDefault()
      targets[next].focus()
      targets[next].scrollIntoView({ block: 'nearest' })
    }
    document.addEventListener('keydown', move)
    return () => document.removeEventListener('keydown', move)
  }, [table])
