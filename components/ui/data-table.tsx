'use client'
import { ArrowDown, ArrowUp } from 'lucide-react'
import {
  Fragment,
  type PointerEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react'
import { classes } from './classes.ts'
import { columnRules, nameAtOf, type RuledColumn } from './column-rules.ts'
import {
  type Column,
  isDroppable,
  nameWidth,
  selectClasses,
  TableRow,
  valueWidth,
  wideOnly,
} from './data-table-row.tsx'
import { useRowKeys } from './use-row-keys.ts'
import { useVirtualRows } from './use-virtual-rows.ts'

export interface RowSelection<Row> {
  selected: ReadonlySet<string>
  /** `range`: everything from the row chosen before to this one. */
  onSelect: (key: string, range: boolean) => void
  onSelectAll: (isSelected: boolean) => void
  /** The name of a row's checkbox. */
  labelOf: (row: Row) => string
}

export interface DataTableProps<Row> {
  caption: string
  /** The column of priority 1, or else the first, names the row. */
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  /** Where Enter and a click on the row lead. */
  rowHref?: (row: Row) => string
  /** Shown at the row's end while the pointer or the focus is in it. */
  rowActions?: (row: Row) => ReactNode
  rowClassName?: (row: Row) => string | undefined
  selectedKey?: string
  selection?: RowSelection<Row>
  sort?: { column: string; descending: boolean } | null
  onSort?: (column: string) => void
  /** A column's edge was dragged to a new width; undefined: it was double-clicked and has its own again. */
  onResize?: (column: string, width: number | undefined) => void
  /** How many rows there are when `rows` is not all of them; null when nobody knows. */
  totalRows?: number | null
  /** The end of the rows is coming into view. */
  onNearEnd?: () => void
  /** Told which rows are drawn, as the view moves. */
  inView?: RefObject<{ first: number; last: number }>
  /** The rows are of an earlier answer. */
  busy?: boolean
  /** Every column stays in the row and the table scrolls sideways, instead of columns leaving where there is no room. */
  isScrolled?: boolean
}

/**
 * Any number of rows, of which those near the view are in the page. j and k move between rows from anywhere on the page,
 * the arrow keys while the focus is in the table; Enter opens, x selects. Where there is no room for all columns, those
 * with the highest priority number leave first, and a row opens into a card with them.
 */
export const DataTable = <Row,>(props: DataTableProps<Row>) => {
  const { caption, columns, rows, rowKey, rowHref, rowActions, rowClassName, selectedKey, selection, isScrolled } =
    props
  const [hasSelection, hasRowActions] = [selection !== undefined, rowActions !== undefined]
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const table = useRef<HTMLTableElement>(null)
  const { items, totalSize, setCardHeight, focusedKey, setFocusedKey } = useVirtualRows({
    table,
    rows,
    rowKey,
    opened,
    linesOf: useLines(columns),
    onNearEnd: props.onNearEnd,
  })
  const { inView } = props
  useEffect(() => {
    if (inView) inView.current = { first: items[0]?.index ?? 0, last: items.at(-1)?.index ?? 0 }
  })
  useRowKeys({ table, rows, rowKey, setFocusedKey, onSelect: selection?.onSelect })
  const id = useId()
  const rules = useMemo(
    () => columnRules(id, isScrolled ? columns.map(alwaysShown) : columns, { hasSelection, hasRowActions }),
    [id, columns, isScrolled, hasSelection, hasRowActions],
  )

  // The same function for every row: a new one would draw each of them again.
  const toggle = useCallback(
    (key: string) =>
      setOpened((before) => {
        const after = new Set(before)
        if (!after.delete(key)) after.add(key)
        return after
      }),
    [],
  )
  const nameAt = nameAtOf(columns)
  const hasCards = columns.some(isDroppable) || hasRowActions
  const { totalRows = rows.length, busy } = props
  let drawnTo = 0
  return (
    <div data-table={id} className="@container">
      <style>{rules}</style>
      {/* The browser's own anchor would be a row that comes and goes: it moved a list that was brought back. */}
      <div className={classes('[overflow-anchor:none]', isScrolled && 'overflow-x-auto')}>
        <table
          ref={table}
          aria-busy={busy || undefined}
          aria-rowcount={totalRows === null ? -1 : totalRows + 1}
          style={
            isScrolled ? ({ '--table-min': `${columns.length * scrolledRem}rem` } as React.CSSProperties) : undefined
          }
          onFocus={({ target }) => setFocusedKey(keyOfRowAround(target))}
          onBlur={({ currentTarget, relatedTarget }) =>
            focusedKey !== null && !currentTarget.contains(relatedTarget) && setFocusedKey(null)
          }
          className={classes(
            'w-full table-auto border-separate @2xl:table-fixed border-spacing-0 text-left',
            isScrolled ? '@2xl:min-w-(--table-min)' : stickyHead,
            busy && 'opacity-60 transition-opacity',
          )}
        >
          <caption className="sr-only">{caption}</caption>
          <thead>
            <tr aria-rowindex={1}>
              {selection && (
                <th scope="col" className={classes(headClasses, selectClasses)}>
                  <SelectAll rows={rows} rowKey={rowKey} {...selection} />
                </th>
              )}
              {columns.map((column, at) => (
                <HeadCell key={column.id} column={column} at={at} isName={at === nameAt} {...props} />
              ))}
              {rowActions && (
                <th scope="col" className={classes(headClasses, wideOnly, 'w-22 px-1!')}>
                  <span className="sr-only">Actions</span>
                </th>
              )}
              {hasCards && (
                <th scope="col" data-more="" className={classes(headClasses, 'w-11 px-0!')}>
                  <span className="sr-only">More</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {items.map(({ index, start, end }) => {
              const row = rows[index] as Row
              const key = rowKey(row)
              const gap = start - drawnTo
              drawnTo = end
              return (
                <Fragment key={key}>
                  {gap > 0 && <Spacer height={gap} />}
                  <TableRow
                    row={row}
                    rowId={key}
                    index={index}
                    columns={columns}
                    nameAt={nameAt}
                    href={rowHref?.(row)}
                    rowActions={rowActions}
                    className={rowClassName?.(row)}
                    isOpen={opened.has(key)}
                    hasCard={hasCards}
                    isCurrent={key === selectedKey}
                    isSelected={selection?.selected.has(key)}
                    selectLabel={selection?.labelOf}
                    onSelect={selection?.onSelect}
                    onToggle={toggle}
                    onCardHeight={setCardHeight}
                  />
                </Fragment>
              )
            })}
            {totalSize > drawnTo && <Spacer height={totalSize - drawnTo} />}
          </tbody>
        </table>
      </div>
    </div>
  )
}

const useLines = <Row,>(columns: readonly Column<Row>[]) =>
  useMemo(() => {
    const growing = columns.flatMap(({ lines }) => lines ?? [])
    return growing.length === 0 ? null : (row: Row) => Math.max(...growing.map((lines) => lines(row)))
  }, [columns])

/** Stands for the rows that are not in the page, so that those that are lie where they belong. */
const Spacer = ({ height }: { height: number }) => (
  <tr aria-hidden>
    <td style={{ height }} className="p-0" />
  </tr>
)

interface HeadCellProps<Row> extends Pick<DataTableProps<Row>, 'sort' | 'onSort' | 'onResize'> {
  column: Column<Row>
  at: number
  isName: boolean
}

const HeadCell = <Row,>({ column, at, isName, sort, onSort, onResize }: HeadCellProps<Row>) => {
  const { id, header, width, align, sortable } = column
  const isSorted = sort?.column === id
  const Arrow = isSorted && sort.descending ? ArrowDown : ArrowUp
  return (
    <th
      scope="col"
      data-column={at}
      style={{ '--column-width': typeof width === 'number' ? `${width}px` : width } as React.CSSProperties}
      aria-sort={isSorted ? (sort.descending ? 'descending' : 'ascending') : undefined}
      className={classes(
        headClasses,
        '@2xl:w-[var(--column-width,auto)]',
        isName ? `${nameWidth} w-full` : valueWidth,
        align === 'right' && 'text-right',
      )}
    >
      {sortable && onSort ? (
        <button
          type="button"
          onClick={() => onSort(id)}
          className={classes(
            'group/sort -mx-1 inline-flex h-6 items-center @2xl:max-w-full gap-1 rounded-sm px-1 hover:text-text',
            align === 'right' && 'flex-row-reverse',
            isSorted && 'text-text',
          )}
        >
          <span className="truncate">{header}</span>
          <Arrow
            aria-hidden
            className={classes(
              'size-3 shrink-0',
              !isSorted && 'opacity-0 group-hover/sort:opacity-60 group-focus-visible/sort:opacity-60',
            )}
          />
        </button>
      ) : (
        <span className="block truncate">{header}</span>
      )}
      {onResize && <ResizeHandle onResize={(next) => onResize(id, next)} />}
    </th>
  )
}

const narrowestColumn = 56
const widestColumn = 1600

/** For the pointer only: whoever shows it offers the same by buttons. */
const ResizeHandle = ({ onResize }: { onResize: (width: number | undefined) => void }) => {
  const drag = (event: PointerEvent<HTMLSpanElement>) => {
    const handle = event.currentTarget
    const cell = handle.closest('th')
    if (!cell || event.button !== 0) return
    event.preventDefault()
    handle.setPointerCapture(event.pointerId)
    const [startX, startWidth] = [event.clientX, cell.offsetWidth]
    const widthAt = (x: number) =>
      Math.round(Math.min(widestColumn, Math.max(narrowestColumn, startWidth + x - startX)))
    // Straight to the cell: a render for each move of the pointer would lag behind it.
    handle.onpointermove = ({ clientX }) => {
      cell.style.setProperty('--column-width', `${widthAt(clientX)}px`)
    }
    handle.onpointerup = ({ clientX }) => {
      handle.onpointermove = null
      handle.onpointerup = null
      if (clientX !== startX) onResize(widthAt(clientX))
    }
  }
  return (
    <span
      aria-hidden
      data-resize
      onPointerDown={drag}
      onDoubleClick={() => onResize(undefined)}
      className="absolute top-0 -right-1 z-[1] hidden h-full w-2 cursor-col-resize touch-none after:absolute after:inset-y-1.5 after:left-1/2 after:w-px after:bg-transparent hover:after:bg-line-strong active:after:bg-accent @2xl:block"
    />
  )
}

const SelectAll = <Row,>({
  rows,
  rowKey,
  selected,
  onSelectAll,
}: RowSelection<Row> & Pick<DataTableProps<Row>, 'rows' | 'rowKey'>) => {
  const isAll = rows.length > 0 && selected.size >= rows.length && rows.every((row) => selected.has(rowKey(row)))
  return (
    <label className="flex h-11 min-w-(--select-width) @2xl:h-8 cursor-pointer items-center justify-center">
      <input
        type="checkbox"
        aria-label={isAll ? 'Select none of the rows' : 'Select all rows shown'}
        className="size-4 accent-(--accent-solid)"
        checked={isAll}
        ref={(box) => {
          if (box) box.indeterminate = !isAll && selected.size > 0
        }}
        onChange={() => onSelectAll(!isAll)}
      />
    </label>
  )
}

const keyOfRowAround = (target: EventTarget) =>
  target instanceof Element ? (target.closest('tr')?.getAttribute('data-key') ?? null) : null

/** Of each column of a table that scrolls. */
const scrolledRem = 8
const alwaysShown = ({ priority }: RuledColumn): RuledColumn => ({ priority, width: '0rem' })

const headClasses =
  'relative z-10 h-8 border-b border-line bg-surface-0 px-2 @2xl:px-3 text-sm font-medium whitespace-nowrap text-muted'
const stickyHead = '@2xl:[&_th[scope=col]]:sticky @2xl:[&_th[scope=col]]:top-(--frame-top)'
