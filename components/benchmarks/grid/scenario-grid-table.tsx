'use client'
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import { ArrowDown, ArrowUp, Ban } from 'lucide-react'
import { Fragment, type KeyboardEvent, type MouseEvent, memo, useMemo, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { classes } from '#components/ui/classes.ts'
import { IconButton } from '#components/ui/icon-button.tsx'
import { maxPrintedRows, printedRows, usePrinting } from '#components/ui/use-printing.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { agentLabel } from '#lib/protocol/report-words.ts'
import type { FailureRule } from '#lib/protocol/reports.ts'
import { meanOf } from '#lib/statistics/means.ts'
import { type AgentRow, shortLabels } from '../job-figures.ts'
import type { AttemptMarks } from '../marks/attempt-marks.ts'
import { CellView, scoreText } from './grid-cell.tsx'
import type { GridLine } from './grid-view.ts'
import type { GridCell, GridScale, ScenarioRow } from './scenario-grid.ts'

interface GridPlace {
  key: string
  column: number
}

interface ScenarioGridTableProps {
  lines: readonly GridLine[]
  agents: readonly AgentRow[]
  scale: GridScale
  rule: FailureRule
  sort: string | undefined
  onSort: (sort: string | undefined) => void
  opened: GridPlace | null
  onOpen: (place: GridPlace) => void
  marks: AttemptMarks
  onExclude: (row: ScenarioRow) => void
}

const lineHeight = 36
const headHeight = 57

/** Virtualized grid with a roving tab stop: arrow, Home, End and page keys move it, Enter opens the outcome. */
export const ScenarioGridTable = (props: ScenarioGridTableProps) => {
  const { lines, agents, scale, rule, sort, onSort, opened, onOpen, marks, onExclude } = props
  const labels = useMemo(() => shortLabels(agents), [agents])
  const region = useRef<HTMLDivElement>(null)
  const [focused, setFocused] = useState<GridPlace | null>(null)
  const firstKey = lines.find(({ kind }) => kind === 'scenario')?.key
  const indexOf = useMemo(() => new Map(lines.map(({ key }, index) => [key, index])), [lines])
  // If the focused line is filtered out, the first takes over.
  const current = focused && indexOf.has(focused.key) ? focused : firstKey ? { key: firstKey, column: 0 } : null
  const currentIndex = current ? (indexOf.get(current.key) ?? 0) : 0
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => region.current,
    estimateSize: () => lineHeight,
    overscan: 3,
    scrollPaddingStart: headHeight,
    // Size for server rendering and hydration.
    initialRect: { width: 1280, height: 600 },
    // The focused line stays mounted, or the focus would be lost.
    rangeExtractor: (range) => {
      const near = defaultRangeExtractor(range)
      return near.includes(currentIndex) || currentIndex >= range.count
        ? near
        : [...near, currentIndex].sort((a, b) => a - b)
    },
  })
  const move = (event: KeyboardEvent) => {
    const cell = cellOf(event.target)
    if (!cell || !current) return
    if (event.key === 'Enter' || event.key === ' ') onOpen(current)
    else {
      const place = placeFor(event, lines, current, agents.length)
      if (!place) return
      flushSync(() => setFocused(place))
      virtualizer.scrollToIndex(indexOf.get(place.key) ?? 0, { align: 'auto' })
      const next = region.current?.querySelector<HTMLElement>('td[tabindex="0"]')
      next?.focus({ preventScroll: true })
      next?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    }
    event.preventDefault()
  }
  const open = ({ target }: MouseEvent) => {
    const cell = cellOf(target)
    const key = cell?.closest('tr')?.getAttribute('data-key')
    if (!cell || key == null) return
    const place = { key, column: Number(cell.dataset.column) }
    setFocused(place)
    onOpen(place)
  }
  let renderedTo = 0
  const gapBefore = ({ start, end }: { start: number; end: number }) => {
    const gap = start - renderedTo
    renderedTo = end
    return gap > 0 && <Gap height={gap} />
  }
  const isPrinting = usePrinting()
  const items = isPrinting ? printedRows(lines.length) : virtualizer.getVirtualItems()
  const totalSize = isPrinting ? 0 : virtualizer.getTotalSize()
  const widths = { '--grid-min': `${9 + agents.length * 7.5}rem` } as React.CSSProperties
  return (
    <div ref={region} className="max-h-[min(72vh,44rem)] overflow-auto border-y border-line [overflow-anchor:none]">
      <table
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table with focusable cells is a grid
        role="grid"
        aria-label="Scores of each agent at each scenario"
        aria-rowcount={lines.length + 1}
        aria-colcount={agents.length + 1}
        style={widths}
        onKeyDown={move}
        onClick={open}
        className="w-full min-w-(--grid-min) print:min-w-0 table-fixed border-separate border-spacing-0 text-left text-sm"
      >
        <thead>
          <tr aria-rowindex={1}>
            <th
              scope="col"
              aria-colindex={1}
              aria-sort={sort === 'name' ? 'ascending' : undefined}
              className="sticky top-0 left-0 z-20 w-64 border-b border-line bg-surface-0 p-0 max-sm:w-36"
            >
              <SortButton label="Scenario" up="name" sort={sort} onSort={onSort} />
            </th>
            {agents.map((agent, column) => (
              <th
                key={agent.key}
                scope="col"
                aria-colindex={column + 2}
                aria-sort={sort === `a${column}` ? 'ascending' : sort === `-a${column}` ? 'descending' : undefined}
                className="sticky top-0 z-10 border-b border-l border-line bg-surface-0 p-0"
              >
                <SortButton
                  label={labels[column] ?? ''}
                  title={agentLabel(agent)}
                  up={`a${column}`}
                  down={`-a${column}`}
                  sort={sort}
                  onSort={onSort}
                />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => {
            const line = lines[item.index]
            if (!line) return null
            return (
              <Fragment key={line.key}>
                {gapBefore(item)}
                {line.kind === 'group' ? (
                  <GroupLine line={line} index={item.index} agents={agents.length} scale={scale} rule={rule} />
                ) : (
                  <ScenarioLine
                    row={line.row}
                    index={item.index}
                    scale={scale}
                    rule={rule}
                    focusedColumn={line.key === current?.key ? current.column : null}
                    openColumn={line.key === opened?.key ? opened.column : null}
                    marks={marks}
                    onExclude={onExclude}
                  />
                )}
              </Fragment>
            )
          })}
          {totalSize > renderedTo && <Gap height={totalSize - renderedTo} />}
        </tbody>
      </table>
      {isPrinting && lines.length > maxPrintedRows && (
        <p className="text-muted">
          Printed {formatCount(maxPrintedRows)} of {formatCount(lines.length)} rows.
        </p>
      )}
    </div>
  )
}

const Gap = ({ height }: { height: number }) => (
  <tr aria-hidden>
    <td style={{ height }} className="p-0" />
  </tr>
)

interface ScenarioLineProps extends Pick<ScenarioGridTableProps, 'scale' | 'rule' | 'marks' | 'onExclude'> {
  row: ScenarioRow
  index: number
  focusedColumn: number | null
  openColumn: number | null
}

const ScenarioLine = memo((props: ScenarioLineProps) => {
  const { row, index, scale, rule, focusedColumn, openColumn, marks, onExclude } = props
  const isExcluded = row.cells.some((cell) => cell.isExcluded) && row.cells.every(hasNothingCounted)
  return (
    <tr data-key={row.id} aria-rowindex={index + 2} className="group/row">
      <th
        scope="row"
        aria-colindex={1}
        className="sticky left-0 z-1 h-9 overflow-hidden border-b border-line bg-surface-0 px-3 font-medium whitespace-nowrap group-hover/row:bg-surface-1"
      >
        <span className="flex items-center gap-1">
          <span className={classes('min-w-0 flex-1', isExcluded && 'text-muted line-through')}>
            <VisibleText truncate>{row.name}</VisibleText>
          </span>
          {!isExcluded && (
            // Not a tab stop in a grid of a thousand rows: a cell's outcome offers the same.
            <IconButton
              size="sm"
              icon={Ban}
              label={`Exclude ${row.name}`}
              tabIndex={-1}
              needs="/api/judgment"
              onClick={() => onExclude(row)}
              className="opacity-0 group-hover/row:opacity-100 focus-visible:opacity-100 print:hidden"
            />
          )}
        </span>
      </th>
      {row.cells.map((cell, column) => (
        <CellView
          // biome-ignore lint/suspicious/noArrayIndexKey: an agent is its column
          key={column}
          cell={cell}
          scale={scale}
          rule={rule}
          column={column}
          isFocused={column === focusedColumn}
          isOpen={column === openColumn}
          marks={marks}
        />
      ))}
    </tr>
  )
})

const hasNothingCounted = ({ attempts, isExcluded }: GridCell) => isExcluded || attempts.length === 0

interface GroupLineProps extends Pick<ScenarioLineProps, 'index' | 'scale' | 'rule'> {
  line: Extract<GridLine, { kind: 'group' }>
  agents: number
}

const GroupLine = ({ line: { name, rows }, index, agents, scale, rule }: GroupLineProps) => (
  <tr aria-rowindex={index + 2} className="bg-surface-2">
    <th
      scope="row"
      aria-colindex={1}
      className="sticky left-0 z-1 h-9 overflow-hidden border-b border-line bg-surface-2 px-3 font-semibold whitespace-nowrap"
    >
      <VisibleText max={60}>{name}</VisibleText>{' '}
      <span className="font-normal text-muted">{formatCountOf(rows.length, 'scenario')}</span>
    </th>
    {Array.from({ length: agents }, (_, column) => {
      const scores = rows.flatMap(({ cells: { [column]: cell } }) =>
        cell?.isExcluded ? [] : (cell?.score[rule] ?? []),
      )
      const mean = meanOf(scores)
      return (
        // biome-ignore lint/suspicious/noArrayIndexKey: an agent is its column
        <td key={column} className="tabular border-b border-l border-line px-2 whitespace-nowrap">
          {mean === null ? '–' : `${scoreText(mean, scale)} `}
          <span className="text-muted">(n = {formatCount(scores.length)})</span>
        </td>
      )
    })}
  </tr>
)

interface SortButtonProps extends Pick<ScenarioGridTableProps, 'sort' | 'onSort'> {
  label: string
  title?: string
  up: string
  down?: string
}

const SortButton = ({ label, title, up, down, sort, onSort }: SortButtonProps) => {
  const isSorted = sort === up || (down !== undefined && sort === down)
  const Arrow = sort === down && isSorted ? ArrowDown : ArrowUp
  return (
    <button
      type="button"
      title={title}
      onClick={() => onSort(sort === up ? down : sort === down ? undefined : up)}
      className={classes(
        'group/sort flex h-14 w-full items-center gap-1 px-2 text-left text-xs leading-4 font-medium -outline-offset-2 hover:text-text',
        isSorted ? 'text-text' : 'text-muted',
      )}
    >
      <VisibleText max={120} className="line-clamp-3 wrap-anywhere">
        {label}
      </VisibleText>
      <Arrow aria-hidden className={classes('size-3 shrink-0', !isSorted && 'opacity-0 group-hover/sort:opacity-60')} />
    </button>
  )
}

const cellOf = (target: EventTarget): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>('td[data-column]') : null

const pageLines = 12

/** Target of a navigation key, skipping group lines. Ctrl with Home or End goes to a corner. */
const placeFor = (
  { key, ctrlKey, metaKey, altKey }: KeyboardEvent,
  lines: readonly GridLine[],
  { key: hereKey, column }: GridPlace,
  columns: number,
): GridPlace | null => {
  const isCorner = (ctrlKey || metaKey) && (key === 'Home' || key === 'End')
  if (altKey || ((ctrlKey || metaKey) && !isCorner)) return null
  const scenarios = lines.filter(({ kind }) => kind === 'scenario')
  const at = scenarios.findIndex((line) => line.key === hereKey)
  const rows: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + pageLines,
    PageUp: at - pageLines,
    ...(isCorner && { Home: 0, End: scenarios.length - 1 }),
  }
  const across: Record<string, number> = { ArrowLeft: column - 1, ArrowRight: column + 1, Home: 0, End: columns - 1 }
  if (!(key in rows) && !(key in across)) return null
  const within = (index: number, count: number) => Math.min(count - 1, Math.max(0, index))
  const line = scenarios[within(rows[key] ?? at, scenarios.length)]
  return line ? { key: line.key, column: within(across[key] ?? column, columns) } : null
}
