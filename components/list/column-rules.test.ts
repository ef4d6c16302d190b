import { expect, it } from 'vitest'
import { columnRules, scrolledTableRem, shownFromRem } from './column-rules.ts'

const bare = { hasSelection: false, hasRowActions: false }
const name = { priority: 1 }

it('hides columns by priority, the last of equal ones first, so that the name keeps its width', () => {
  const columns = [
    name,
    { priority: 2, width: '10rem' as const },
    { priority: 6, width: '12rem' as const },
    { priority: 3, width: '8rem' as const },
    { priority: 3, width: '30rem' as const },
  ]
  // 11.5 for the name and 2.75 for the "Show more" button.
  expect(shownFromRem(columns, bare)).toEqual([
    0,
    11.5 + 10 + 2.75,
    11.5 + 10 + 8 + 30 + 12,
    42,
    11.5 + 10 + 8 + 30 + 2.75,
  ])
  // 2.25 for checkboxes and 5.5 for actions.
  expect(shownFromRem(columns, { hasSelection: true, hasRowActions: true })[2]).toBe(71.5 + 7.75)
})

it("keeps the name's width next to flexible, percentage and pixel columns", () => {
  expect(shownFromRem([name, {}, { priority: 3, width: '12rem' }], bare)).toEqual([0, 2 * 11.5 + 2.75, 42])
  expect(shownFromRem([name, { priority: 3, minWidthRem: 30 }], bare)).toEqual([0, 60])
  expect(shownFromRem([name, { priority: 3, width: '50%' }, { priority: 4, width: 400 }], bare)).toEqual([
    0,
    42,
    (11.5 + 25) / 0.5,
  ])
  // A percentage is of the whole table, with its checkboxes and actions.
  const extras = { hasSelection: true, hasRowActions: true }
  expect(shownFromRem([name, { priority: 3, width: '75%' }], extras)).toEqual([0, (11.5 + 7.75) / 0.25])
})

it('keeps pinned columns at the left of all columns', () => {
  const columns = [
    { priority: 1, width: '16rem' as const, isPinned: true },
    { priority: 5, width: 160, isPinned: true },
    { priority: 6, width: '40rem' as const },
  ]
  const extras = { hasSelection: true, hasRowActions: false, isScrolled: true }
  expect(shownFromRem(columns, extras)).toEqual([0, 42, 42])
  const rules = columnRules('t1', columns, extras)
  expect(rules).toContain(':is(th, td)[data-column="1"] { position: sticky; left: 18.25rem;')
  expect(rules).not.toContain('[data-column="2"] { position')
  expect(scrolledTableRem(columns, extras)).toBe(2.25 + 16 + 10 + 40)
})

it('hides a column below its threshold, and its line in the card above it', () => {
  const rules = columnRules('t1', [name, { priority: 3, width: '50rem' }], bare)
  expect(rules).toContain('@container (width < 61.5rem) { [data-table="t1"] [data-column="1"] { display: none } }')
  expect(rules).toContain('@container (width >= 61.5rem) { [data-table="t1"] [data-card="1"] { display: none } }')
})
