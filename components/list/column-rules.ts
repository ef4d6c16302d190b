/** Hides columns by container queries: nothing is measured, so the first paint is right. */

export interface RuledColumn {
  /** Pixels when the user chose it. Columns without a width share the remaining space. */
  width?: number | `${number}rem` | `${number}%` | undefined
  minWidthRem?: number | undefined
  /** 1 is the name. 1 and 2 always stay in the row; others leave when space runs out, highest number first. */
  priority?: number | undefined
  /** Stays at the left of a table that scrolls sideways. Pinned columns come first and have a width. */
  isPinned?: boolean | undefined
}

interface Extras {
  hasSelection: boolean
  hasRowActions: boolean
  /** Columns scroll sideways instead of leaving, except on narrow screens. */
  isScrolled?: boolean | undefined
}

/** Same as the `@2xl:` breakpoint. Below it rows show the name, one value and a card. */
export const wideRem = 42
/** 160 px and the padding of the cell. */
const nameRem = 11.5
const selectRem = 2.25
const actionsRem = 5.5
const moreRem = 2.75
const pxPerRem = 16

export const nameIndexOf = (columns: readonly RuledColumn[]): number =>
  Math.max(
    0,
    columns.findIndex(({ priority }) => priority === 1),
  )

const isInRow = ({ priority = 2 }: RuledColumn) => priority <= 2

/** The container width in rem from which each column is shown. Among columns of equal priority the last one leaves first. */
export const shownFromRem = (
  columns: readonly RuledColumn[],
  { hasSelection, hasRowActions, isScrolled }: Extras,
): number[] => {
  if (isScrolled) return columns.map((column) => (isInRow(column) ? 0 : wideRem))
  const edges = (hasSelection ? selectRem : 0) + (hasRowActions ? actionsRem : 0)
  const nameIndex = nameIndexOf(columns)
  const order = columns
    .map((column, at) => ({ column, at }))
    .filter(({ at }) => at !== nameIndex)
    .sort((one, other) => (one.column.priority ?? 2) - (other.column.priority ?? 2) || one.at - other.at)
  const from = columns.map(() => 0)
  const inRow: RuledColumn[] = []
  let last = 0
  for (const [rank, { column, at }] of order.entries()) {
    inRow.push(column)
    const isLast = rank === order.length - 1
    // While columns are hidden the row also needs its "Show more" button.
    last = Math.max(last, minWidthOf(inRow, edges + (isLast ? 0 : moreRem)))
    from[at] = isInRow(column) ? last : Math.max(wideRem, last)
  }
  return from
}

/**
 * Minimum width of the edges, the name and these columns. Percentages are of that width. Columns without a width get equal
 * shares, as wide as the widest needs.
 */
const minWidthOf = (columns: readonly RuledColumn[], edges: number): number => {
  let fixedRem = edges
  let percent = 0
  // The name always shares the remaining space, whatever width was chosen for it.
  let flexible = 1
  let flexibleRem = nameRem
  for (const { width, minWidthRem = 0 } of columns) {
    if (width === undefined) {
      flexible += 1
      flexibleRem = Math.max(flexibleRem, minWidthRem)
    } else if (typeof width === 'number') fixedRem += width / pxPerRem
    else if (width.endsWith('%')) percent += Number.parseFloat(width)
    else fixedRem += Number.parseFloat(width)
  }
  return (fixedRem + flexible * flexibleRem) / (1 - Math.min(percent, 90) / 100)
}

/** Exact, because a wider table would stretch its columns, and pinned ones would then overlap. */
export const scrolledTableRem = (columns: readonly RuledColumn[], { hasSelection, hasRowActions }: Extras): number =>
  columns.reduce(
    (sum, column) => sum + widthRem(column),
    (hasSelection ? selectRem : 0) + (hasRowActions ? actionsRem : 0),
  )

const widthRem = ({ width }: RuledColumn): number =>
  typeof width === 'number' ? width / pxPerRem : Number.parseFloat(width ?? '0')

const pinnedRules = (table: string, columns: readonly RuledColumn[], hasSelection: boolean): string => {
  const cell = (name: string) => `[data-table="${table}"] :is(th, td)[data-${name}]`
  const isSticky = (left: number) => `{ position: sticky; left: ${left}rem; z-index: 12; background: inherit }`
  let left = hasSelection ? selectRem : 0
  const rules = hasSelection ? [`${cell('select')} ${isSticky(0)}`] : []
  const pinned = columns.filter(({ isPinned }) => isPinned)
  for (const [at, column] of pinned.entries()) {
    rules.push(`${cell(`column="${at}"`)} ${isSticky(left)}`)
    left += widthRem(column)
  }
  const edge = `[data-scrolled] :is(th, td)[data-column="${pinned.length - 1}"]`
  rules.push(`[data-table="${table}"] ${edge} { box-shadow: var(--pinned-shadow) }`)
  return `@container (width >= ${wideRem}rem) { ${rules.join('\n')} }`
}

export const columnRules = (table: string, columns: readonly RuledColumn[], extras: Extras): string => {
  const from = shownFromRem(columns, extras)
  const nameIndex = nameIndexOf(columns)
  const allRem = Math.max(0, ...from)
  const part = (name: string, value: number | '') =>
    `[data-table="${table}"] [data-${name}${value === '' ? '' : `="${value}"`}]`
  const below = (rem: number, rule: string) => `@container (width < ${rem}rem) { ${rule} }`
  const wideBelow = (rem: number, rule: string) => `@container (${wideRem}rem <= width < ${rem}rem) { ${rule} }`
  const above = (rem: number, rule: string) => `@container (width >= ${rem}rem) { ${rule} }`
  const rules = [
    ...columns.flatMap((column, at) => {
      // Chosen widths give way before any column leaves.
      if (at === nameIndex) return [wideBelow(allRem, `${part('column', at)} { width: auto }`)]
      const min = from[at] ?? 0
      return isInRow(column)
        ? [wideBelow(min, `${part('column', at)} { width: auto }`)]
        : [below(min, `${part('column', at)} { display: none }`), above(min, `${part('card', at)} { display: none }`)]
    }),
    above(columns.every(isInRow) ? wideRem : Math.max(wideRem, allRem), `${part('more', '')} { display: none }`),
  ]
  if (columns.some(({ isPinned }) => isPinned)) rules.push(pinnedRules(table, columns, extras.hasSelection))
  // Paper has every column.
  return `@media screen {\n${rules.join('\n')}\n}`
}
