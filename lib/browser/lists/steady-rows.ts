export interface Steadied<Row> {
  rows: Row[]
  /** Rows that are kept back until the pointer is gone. */
  waiting: number
}

/**
 * `fresh` in the order of `held`: what is on the screen keeps its place, with its newest data; what has gone stays as it
 * was; what comes after the last held row is added; what would push rows down waits.
 */
export const steady = <Row>(
  held: readonly Row[],
  fresh: readonly Row[],
  keyOf: (row: Row) => string,
): Steadied<Row> => {
  const byKey = new Map(fresh.map((row) => [keyOf(row), row]))
  const heldKeys = new Set(held.map(keyOf))
  const lastHeld = fresh.findLastIndex((row) => heldKeys.has(keyOf(row)))
  const isNew = (row: Row) => !heldKeys.has(keyOf(row))
  return {
    rows: [...held.map((row) => byKey.get(keyOf(row)) ?? row), ...fresh.slice(lastHeld + 1).filter(isNew)],
    waiting: lastHeld === -1 ? 0 : fresh.slice(0, lastHeld).filter(isNew).length,
  }
}
