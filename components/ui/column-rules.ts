/** Which columns of a table are shown at which width, as CSS: nothing is measured, so the first paint is right. */

export interface RuledColumn {
  width?: number | `${number}rem` | `${number}%` | undefined
  minWidthRem?: number | undefined
  priority?: number | undefined
}

interface Extras {
  hasSelection: boolean
  hasRowActions: boolean
}

/** From here on all columns that fit stand in a row; below, rows open into cards. As `@2xl:` has it. */
const wideRem = 42
/** The padding of a cell included: 160 px are left for the name. */
const nameRem = 11.5
const selectRem = 2.25
const actionsRem = 5.5
const moreRem = 2.75
const pxPerRem = 16

/** The place of the column that names the row. */
export const nameAtOf = (columns: readonly RuledColumn[]): number =>
  Math.max(
    0,
    columns.findIndex(({ priority }) => priority === 1),
  )

/** Columns that stay beside the name below `wideRem`. */
const isInRow = ({ priority = 2 }: RuledColumn) => priority <= 2

/**
 * The width in rem from which each column is shown. The name always is and keeps its minimum width; of the others those
 * with the highest priority number leave first, of equal ones the last.
 */
export const shownFromRem = (columns: readonly RuledColumn[], { hasSelection, hasRowActions }: Extras): number[] => {
  const edges = (hasSelection ? selectRem : 0) + (hasRowActions ? actionsRem : 0)
  const nameAt = nameAtOf(columns)
  const order = columns
    .map((column, at) => ({ column, at }))
    .filter(({ at }) => at !== nameAt)
    .sort((one, other) => (one.column.priority ?? 2) - (other.column.priority ?? 2) || one.at - other.at)
  const from = columns.map(() => 0)
  const inRow: RuledColumn[] = []
  let last = 0
  for (const [rank, { column, at }] of order.entries()) {
    inRow.push(column)
    const isLast = rank === order.length - 1
    // A row with columns left out has a button that shows them.
    last = Math.max(last, edges + widthOf(inRow) + (isLast ? 0 : moreRem))
    from[at] = isInRow(column) ? last : Math.max(wideRem, last)
  }
  return from
}

/** What the name and these columns take at least. Those without a width have equal shares, so each is as wide as the widest of them needs. */
const widthOf = (columns: readonly RuledColumn[]): number => {
  let fixedRem = 0
  let percent = 0
  // The name takes what is left, whatever width was chosen for it.
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

/** Rules for the table in the container that has this `data-table`. */
export const columnRules = (table: string, columns: readonly RuledColumn[], extras: Extras): string => {
  const from = shownFromRem(columns, extras)
  const nameAt = nameAtOf(columns)
  const all = Math.max(0, ...from)
  const part = (name: string, value: number | '') =>
    `[data-table="${table}"] [data-${name}${value === '' ? '' : `="${value}"`}]`
  const below = (rem: number, rule: string) => `@container (width < ${rem}rem) { ${rule} }`
  // Below `wideRem` the name has what the value beside it leaves.
  const wideBelow = (rem: number, rule: string) => `@container (${wideRem}rem <= width < ${rem}rem) { ${rule} }`
  const above = (rem: number, rule: string) => `@container (width >= ${rem}rem) { ${rule} }`
  return [
    ...columns.flatMap((column, at) => {
      // A width that was chosen by hand gives way first.
      if (at === nameAt) return [wideBelow(all, `${part('column', at)} { width: auto }`)]
      const min = from[at] ?? 0
      return isInRow(column)
        ? [wideBelow(min, `${part('column', at)} { width: auto }`)]
        : [below(min, `${part('column', at)} { display: none }`), above(min, `${part('card', at)} { display: none }`)]
    }),
    above(columns.every(isInRow) ? wideRem : Math.max(wideRem, all), `${part('more', '')} { display: none }`),
  ].join('\n')
}
