'use client'
import { ArrowDown, ArrowUp } from 'lucide-react'
import {
  Fragment,
  type PointerEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { t } from '#lib/language/translate.ts'
import { classes } from './classes.ts'
import { type Column, nameWidth, narrowOnly, selectClasses, TableRow, valueWidth, wideOnly } from './data-table-row.tsx'
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
}

/**
 * Any number of rows, of which those near the view are in the page. j and k move between rows from anywhere on the page,
 * the arrow keys while the focus is in the table; Enter opens, x selects. On a narrow screen a row keeps two columns and
 * opens into a card with the others.
 */
export const DataTable = <Row,>(props: DataTableProps<Row>) => {
  const { caption, columns, rows, rowKey, rowHref, rowActions, rowClassName, selectedKey, selection } = props
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
  const minWidth = minWidthOf(columns)
  const { wrapper, isTooWide } = useTooWide(minWidth)

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
  const hasCards = columns.some(({ priority }) => priority === 3) || rowActions !== undefined
  const { totalRows = rows.length, busy } = props
  let drawnTo = 0
  return (
    <div className="@container">
      {/* The browser's own anchor would be a row that comes and goes: it moved a list that was brought back. */}
      <div
        ref={wrapper}
        className={classes('[overflow-anchor:none] overflow-x-auto', !isTooWide && '@4xl:overflow-visible')}
      >
        <table
          ref={table}
          aria-busy={busy || undefined}
          aria-rowcount={totalRows === null ? -1 : totalRows + 1}
          // In a scroll of its own a head that keeps clear of the frame would lie over the rows.
          style={
            {
              '--table-min': `${minWidth}px`,
              '--head-top': isTooWide ? '0px' : 'var(--frame-top)',
            } as React.CSSProperties
          }
          onFocus={({ target }) => setFocusedKey(keyOfRowAround(target))}
          onBlur={({ currentTarget, relatedTarget }) =>
            focusedKey !== null && !currentTarget.contains(relatedTarget) && setFocusedKey(null)
          }
          className={classes(
            'w-full table-auto border-separate @2xl:table-fixed border-spacing-0 text-left @2xl:min-w-(--table-min)',
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
              {columns.map((column) => (
                <HeadCell key={column.id} column={column} isFirst={column === columns[0]} {...props} />
              ))}
              {rowActions && (
                <th scope="col" className={classes(headClasses, wideOnly, 'w-22 px-1!')}>
                  <span className="sr-only">{t('Actions')}</span>
                </th>
              )}
              {hasCards && (
                <th scope="col" className={classes(headClasses, narrowOnly, 'w-11 px-0!')}>
                  <span className="sr-only">{t('More')}</span>
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
  isFirst: boolean
}

const HeadCell = <Row,>({ column, isFirst, sort, onSort, onResize }: HeadCellProps<Row>) => {
  const { id, header, width, align, priority, sortable } = column
  const isSorted = sort?.column === id
  const Arrow = isSorted && sort.descending ? ArrowDown : ArrowUp
  return (
    <th
      scope="col"
      style={{ '--column-width': typeof width === 'number' ? `${width}px` : width } as React.CSSProperties}
      aria-sort={isSorted ? (sort.descending ? 'descending' : 'ascending') : undefined}
      className={classes(
        headClasses,
        '@2xl:w-[var(--column-width,auto)]',
        isFirst ? `${nameWidth} w-full` : valueWidth,
        align === 'right' && 'text-right',
        priority === 3 && wideOnly,
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
        aria-label={t(isAll ? 'Select none of the rows' : 'Select all rows shown')}
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

/** Whether the element `wrapper` is put on is narrower than what stands in it. */
const useTooWide = (contentWidth: number) => {
  const wrapper = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(Number.POSITIVE_INFINITY)
  useEffect(() => {
    if (!wrapper.current) return
    const observer = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width))
    observer.observe(wrapper.current)
    return () => observer.disconnect()
  }, [])
  return { wrapper, isTooWide: width < contentWidth }
}

const keyOfRowAround = (target: EventTarget) =>
  target instanceof Element ? (target.closest('tr')?.getAttribute('data-key') ?? null) : null

/** What columns without a width take at least. */
const flexibleWidth = 96
const remPx = 16

const minWidthOf = (columns: readonly Column<never>[]): number =>
  columns.reduce((sum, { width }) => {
    if (typeof width === 'number') return sum + width
    const rem = /^([\d.]+)rem$/.exec(width ?? '')?.[1]
    return sum + (rem ? Number(rem) * remPx : flexibleWidth)
  }, 0)

const headClasses =
  'relative z-10 h-8 @4xl:sticky @4xl:top-(--head-top) border-b border-line bg-surface-0 px-2 @2xl:px-3 text-sm font-medium whitespace-nowrap text-muted'
