import { QueryClient } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { tabLists } from './tab-lists.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => {
  vi.useRealTimers()
})

const openTab = () => tabLists(new QueryClient())

it('keeps the last that each other tab wanted of a list, and forgets a tab that tells nothing any more', async () => {
  const [tab, open, closed] = [openTab(), openTab(), openTab()]
  const wanted = () => tab.wantedSince('axons', 0).map(({ from, to }) => [from, to])
  closed.want('axons', { from: 0, to: 20 })
  await expect.poll(wanted).toEqual([[0, 20]])
  open.want('axons', { from: 40, to: 60 })
  open.want('axons', { from: 50, to: 70 })
  await expect.poll(wanted).toEqual([
    [0, 20],
    [50, 70],
  ])
  vi.setSystemTime(Date.now() + 10 * 60_000)
  open.want('axons', { from: 60, to: 80 })
  await expect.poll(wanted).toEqual([[60, 80]])
})

it('knows when rows of a list were last read in any tab, until that is long ago', async () => {
  const [tab, other] = [openTab(), openTab()]
  const all = () => true
  const readMs = Date.now()
  other.tell({ list: 'axons', starting_after: undefined, limit: 20, answer: undefined })
  await expect.poll(() => tab.readMs('axons', all)).toBe(readMs)
  expect(tab.readMs('axons', ({ limit }) => limit > 20)).toBe(0)
  expect(tab.readMs('devboxes', all)).toBe(0)
  vi.setSystemTime(readMs + 10 * 60_000)
  tab.tell({ list: 'devboxes', starting_after: undefined, limit: 20, answer: undefined })
  expect(tab.readMs('axons', all)).toBe(0)
  expect(tab.readMs('devboxes', all)).toBe(readMs + 10 * 60_000)
})
