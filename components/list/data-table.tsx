'use client'
import { type Header, type RowData, type RowSelectionState, useTable } from '@tanstack/react-table'
import { ArrowDown, ArrowUp } from 'lucide-react'
import {
  Fragment,
  type ReactNode,
  type RefObject,
  type UIEvent,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react'
import { flushSync } from 'react-dom'
import { followsLeader } from '#components/layout/shortcuts.ts'
import { hasLetterKeys } from '#components/ui/choice/browser-choice.ts'
import { classes } from '#components/ui/classes.ts'
import { isTyping } from '#components/ui/is-typing.ts'
import { maxPrintedRows, printedRows, usePrinting } from '#components/ui/use-printing.ts'
import { formatCount } from '#lib/browser/format.ts'
import { isShortcut } from '#lib/browser/frame/shortcuts.ts'
import { type Column, emptySelection, features, isHideable } from './column.ts'
import { ColumnEdge } from './column-edge.tsx'
import { columnRules, nameIndexOf, scrolledTableRem } from './column-rules.ts'
import { nameWidth, selectClasses, TableRow, valueWidth, wideOnly } from './data-table-row.tsx'
import { useVirtualRows } from './virtual-rows.ts'

export interface RowSelection<Row extends RowData> {
  selected: RowSelectionState
  onChange: (selected: RowSelectionState) => void
  labelOf: (row: Row) => string
}

export interface Sort {
  column: string
  descending: boolean
}

export interface DataTableProps<Row extends RowData> {
  caption: string
  /** Order of the rows without `sort`, for the caption. */
  order?: string
  /** The column of priority 1, or else the first, names the row. */
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  rowHref?: (row: Row) => string | undefined
  /** For rows that show or hide others: whether they are shown. Such a row has no `rowHref`. */
  isRowOpen?: (row: Row) => boolean | undefined
  onToggleRow?: (row: Row) => void
  rowActions?: (row: Row) => ReactNode
  rowClassName?: (row: Row) => string | undefined
  selectedKey?: string
  selection?: RowSelection<Row>
  sort?: Sort | null
  /** The next sort after a click on a header: ascending, descending, none. */
  onSort?: (sort: Sort | null) => void
  onResize?: ((column: string, width: number | undefined) => void) | undefined
  /** Number of rows when `rows` is not all of them; null if unknown. */
  totalRows?: number | null
  onNearEnd?: () => void
  inView?: RefObject<{ first: number; last: number }>
  busy?: boolean
  /** Keeps every column and scrolls sideways instead of hiding columns that don't fit. */
  isScrolled?: boolean
}

/** A virtualized table. Columns that don't fit leave by priority, highest number first, into a card that the row opens. */
export const DataTable = <Row extends RowData>(props: DataTableProps<Row>) => {
  const { caption, columns, rows, rowHref, rowActions, rowClassName, selectedKey, selection, sort } = props
  const hasPinned = columns.some(({ meta }) => meta?.isPinned)
  const isScrolled = props.isScrolled || hasPinned
  const { inView, onNearEnd, busy, totalRows = rows.length } = props
  // The same object until something changes: TanStack renders again for a new one.
  const [selected, sortColumn, isDescending] = [selection?.selected, sort?.column, sort?.descending]
  const state = useMemo(
    () => ({
      rowSelection: selected ?? emptySelection,
      sorting: sortColumn === undefined ? [] : [{ id: sortColumn, desc: isDescending === true }],
    }),
    [selected, sortColumn, isDescending],
  )
  const table = useTable<typeof features, Row>({
    features,
    columns,
    data: rows,
    getRowId: props.rowKey,
    state,
    manualSorting: true,
    sortDescFirst: false,
    enableMultiSort: false,
    isRowRangeSelectionEvent: (event) => (event as { shiftKey: boolean }).shiftKey,
    onRowSelectionChange: (change) =>
      selection?.onChange(typeof change === 'function' ? change(selection.selected) : change),
    onSortingChange: (change) => {
      const [next] = typeof change === 'function' ? change(state.sorting) : change
      props.onSort?.(next ? { column: next.id, descending: next.desc } : null)
    },
  })
  const tableRows = table.getRowModel().rows
  const leafColumns = table.getAllLeafColumns()
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(new Set())
  const element = useRef<HTMLTableElement>(null)
  const {
    items: rowsInView,
    totalSize: fullSize,
    setCardHeight,
    focusedKey,
    setFocusedKey,
  } = useVirtualRows({
    table: element,
    rows: tableRows,
    expanded,
    columns,
    onNearEnd,
  })
  const isPrinting = usePrinting()
  const items = isPrinting ? printedRows(tableRows.length) : rowsInView
  const totalSize = isPrinting ? 0 : fullSize
  useEffect(() => {
    if (inView) inView.current = { first: items[0]?.index ?? 0, last: items.at(-1)?.index ?? 0 }
  })

  // The same handlers on every render, so that memoized rows don't render again.
  const [handlers] = useState(() => ({
    select: (id: string, shiftKey: boolean) => {
      const row = table.getRow(id)
      row.getToggleSelectedHandler()({ target: { checked: !row.getIsSelected() }, shiftKey })
    },
    expand: (id: string) =>
      setExpanded((before) => {
        const after = new Set(before)
        if (!after.delete(id)) after.add(id)
        return after
      }),
  }))
  useRowKeys({ table: element, rows: tableRows, setFocusedKey, onSelect: selection && handlers.select })

  const id = useId()
  const ruledColumns = columns.map(({ meta = {} }) => meta)
  const extras = { hasSelection: selection !== undefined, hasRowActions: !!rowActions, isScrolled }
  const rules = columnRules(id, ruledColumns, extras)
  const nameIndex = nameIndexOf(ruledColumns)
  const hasCards = columns.some(({ meta }) => isHideable(meta)) || rowActions !== undefined
  let renderedTo = 0
  return (
    <div data-table={id} className="@container">
      <style>{rules}</style>
      {/* Scroll anchoring would pick a row that virtualization removes, and move a restored scroll position. */}
      <div
        onScroll={hasPinned ? markScrolled : undefined}
        className={classes('[overflow-anchor:none]', isScrolled && 'isolate overflow-x-auto')}
      >
        <table
          ref={element}
          aria-busy={busy || undefined}
          aria-rowcount={totalRows === null ? -1 : totalRows + 1}
          style={
            isScrolled
              ? ({
                  '--table-min': `${hasPinned ? scrolledTableRem(ruledColumns, extras) : columns.length * scrolledRem}rem`,
                } as React.CSSProperties)
              : undefined
          }
          onFocus={({ target }) => setFocusedKey(rowKeyAround(target))}
          onBlur={({ currentTarget, relatedTarget }) =>
            focusedKey !== null && !currentTarget.contains(relatedTarget) && setFocusedKey(null)
          }
          className={classes(
            'w-full table-auto border-separate @2xl:table-fixed border-spacing-0 text-left',
            isScrolled ? '@2xl:min-w-(--table-min)' : stickyHead,
            busy && 'opacity-60 transition-opacity',
          )}
        >
          <caption className="sr-only">{props.order && !sort ? `${caption}, ${props.order}` : caption}</caption>
          <thead>
            <tr aria-rowindex={1} className={hasPinned ? 'bg-surface-0' : undefined}>
              {selection && (
                <th scope="col" data-select="" className={classes(headClasses, selectClasses)}>
                  <SelectAll
                    isAll={table.getIsAllRowsSelected()}
                    isSome={table.getIsSomeRowsSelected()}
                    onChange={(isOn) => table.toggleAllRowsSelected(isOn)}
                  />
                </th>
              )}
              {table.getLeafHeaders().map((header, at) => (
                <HeadCell
                  key={header.id}
                  header={header}
                  at={at}
                  isName={at === nameIndex}
                  isSortable={props.onSort !== undefined}
                  isScrolled={isScrolled}
                  onResize={props.onResize}
                />
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
              const row = tableRows[index]
              if (!row) return null
              const gap = start - renderedTo
              renderedTo = end
              return (
                <Fragment key={row.id}>
                  {gap > 0 && <Spacer height={gap} />}
                  <TableRow
                    row={row}
                    columns={leafColumns}
                    nameIndex={nameIndex}
                    index={index}
                    href={rowHref?.(row.original)}
                    isOpen={props.isRowOpen?.(row.original)}
                    onToggle={props.onToggleRow}
                    rowActions={rowActions}
                    className={rowClassName?.(row.original)}
                    isExpanded={expanded.has(row.id)}
                    hasCard={hasCards}
                    isPinned={hasPinned}
                    isCurrent={row.id === selectedKey}
                    isSelected={selection && Object.hasOwn(selection.selected, row.id)}
                    selectLabel={selection?.labelOf}
                    onSelect={handlers.select}
                    onExpand={handlers.expand}
                    onCardHeight={setCardHeight}
                  />
                </Fragment>
              )
            })}
            {totalSize > renderedTo && <Spacer height={totalSize - renderedTo} />}
          </tbody>
        </table>
      </div>
      {isPrinting && tableRows.length > maxPrintedRows && (
        <p className="text-muted">
          Printed {formatCount(maxPrintedRows)} of {formatCount(tableRows.length)} rows.
        </p>
      )}
    </div>
  )
}

/** Without state: the table must not render while it scrolls. */
const markScrolled = ({ currentTarget }: UIEvent<HTMLElement>) =>
  currentTarget.toggleAttribute('data-scrolled', currentTarget.scrollLeft > 0)

const Spacer = ({ height }: { height: number }) => (
  <tr aria-hidden>
    <td style={{ height }} className="p-0" />
  </tr>
)

interface HeadCellProps<Row extends RowData> {
  header: Header<typeof features, Row>
  at: number
  isName: boolean
  isSortable: boolean
  isScrolled: boolean
  onResize: DataTableProps<Row>['onResize']
}

const HeadCell = <Row extends RowData>({
  header,
  at,
  isName,
  isSortable,
  isScrolled,
  onResize,
}: HeadCellProps<Row>) => {
  const { column } = header
  const { header: content, meta: { width, align, title } = {} } = column.columnDef
  const text = typeof content === 'function' ? content(header.getContext()) : content
  const sorted = column.getIsSorted()
  const Arrow = sorted === 'desc' ? ArrowDown : ArrowUp
  return (
    <th
      scope="col"
      data-column={at}
      style={{ '--column-width': typeof width === 'number' ? `${width}px` : width } as React.CSSProperties}
      aria-sort={sorted ? (sorted === 'desc' ? 'descending' : 'ascending') : undefined}
      className={classes(
        headClasses,
        '@2xl:w-[var(--column-width,auto)]',
        isName ? `${nameWidth} w-full` : valueWidth,
        align === 'right' && 'text-right',
      )}
    >
      {isSortable && column.getCanSort() ? (
        <button
          type="button"
          onClick={column.getToggleSortingHandler()}
          className={classes(
            'group/sort -mx-1 inline-flex h-6 items-center @2xl:max-w-full gap-1 rounded-sm px-1 hover:text-text',
            align === 'right' && 'flex-row-reverse',
            sorted && 'text-text',
          )}
        >
          <span title={title} className="truncate">
            {text}
          </span>
          <Arrow
            aria-hidden
            className={classes(
              'size-3 shrink-0',
              !sorted && 'opacity-0 group-hover/sort:opacity-60 group-focus-visible/sort:opacity-60',
            )}
          />
        </button>
      ) : (
        <span title={title} className="block truncate">
          {text}
        </span>
      )}
      {onResize && (isScrolled || !isName) && (
        <ColumnEdge side={isScrolled ? 'right' : 'left'} onResize={(width) => onResize(column.id, width)} />
      )}
    </th>
  )
}

interface SelectAllProps {
  isAll: boolean
  isSome: boolean
  onChange: (isOn: boolean) => void
}

const SelectAll = ({ isAll, isSome, onChange }: SelectAllProps) => (
  <label className="flex h-11 min-w-(--select-width) @2xl:h-8 cursor-pointer items-center justify-center">
    <input
      type="checkbox"
      aria-label={isAll ? 'Deselect all rows' : 'Select all rows shown'}
      className="size-4 accent-(--accent-solid)"
      checked={isAll}
      ref={(box) => {
        if (box) box.indeterminate = isSome && !isAll
      }}
      onChange={() => onChange(!isAll)}
    />
  </label>
)

const rowKeyAround = (target: EventTarget) =>
  target instanceof Element ? (target.closest('tr')?.getAttribute('data-key') ?? null) : null

/** Minimum width of each column of a table that scrolls sideways. */
const scrolledRem = 8

const headClasses =
  'relative z-10 h-8 border-b border-line bg-surface-0 px-2 @2xl:px-3 text-sm font-medium whitespace-nowrap text-muted'
const stickyHead = '@2xl:[&_th[scope=col]]:sticky @2xl:[&_th[scope=col]]:top-(--frame-top)'

const arrowSteps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 }

interface Options {
  table: RefObject<HTMLTableElement | null>
  rows: readonly { id: string }[]
  /** Renders the row even if it is out of view. */
  setFocusedKey: (key: string) => void
  onSelect: ((id: string, isRange: boolean) => void) | undefined
}

const useRowKeys = (options: Options) => {
  const latest = useRef(options)
  useEffect(() => {
    latest.current = options
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const { activeElement } = document
      if (event.defaultPrevented || isTyping(activeElement) || followsLeader()) return
      if (event.key.length === 1 && !hasLetterKeys()) return
      const { table, onSelect } = latest.current
      const isInside = table.current?.contains(activeElement) ?? false
      if (!isInside && document.querySelector('[role=dialog],[role=menu]')) return
      const key = isInside ? (activeElement?.closest('tr')?.getAttribute('data-key') ?? null) : null
      const isSelect =
        isShortcut('list.select', event) || (event.shiftKey && isShortcut('list.select', unshifted(event)))
      if (isSelect && key !== null && onSelect) {
        event.preventDefault()
        onSelect(key, event.shiftKey)
        return
      }
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey
      const step = isShortcut('list.next', event)
        ? 1
        : isShortcut('list.previous', event)
          ? -1
          : isInside && isPlain && arrowSteps[event.key]
      if (!step) return
      if (moveFocus(latest.current, key, step)) event.preventDefault()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}

const unshifted = ({ key, code, ctrlKey, altKey, metaKey }: KeyboardEvent) => ({
  key,
  code,
  ctrlKey,
  altKey,
  metaKey,
  shiftKey: false,
})

const moveFocus = ({ table, rows, setFocusedKey }: Options, from: string | null, step: number): boolean => {
  const current = from === null ? -1 : rows.findIndex(({ id }) => id === from)
  const key = rows[current === -1 ? indexInView(table.current, step) : current + step]?.id
  if (key === undefined) return false
  flushSync(() => setFocusedKey(key))
  const element = [...(table.current?.rows ?? [])].find((each) => each.getAttribute('data-key') === key)
  const target = element?.matches('[data-row]') ? element : element?.querySelector<HTMLElement>('[data-row]')
  target?.focus({ preventScroll: true })
  element?.scrollIntoView({ block: 'nearest' })
  return target !== undefined
}

/** The first visible row, or the last when moving up. */
const indexInView = (table: HTMLTableElement | null, step: number): number => {
  const top = (table?.tHead?.getBoundingClientRect().bottom ?? 0) - 1
  const inView = [...(table?.tBodies[0]?.rows ?? [])].filter((row) => {
    const box = row.getBoundingClientRect()
    return row.hasAttribute('data-key') && box.top >= top && box.bottom <= window.innerHeight
  })
  const index = (step === 1 ? inView.at(0) : inView.at(-1))?.getAttribute('aria-rowindex')
  return index ? Number(index) - 2 : -1
}
