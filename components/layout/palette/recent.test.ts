import { afterEach, expect, it, vi } from 'vitest'
import { type RecentItem, recentItems, withRecent } from './recent.ts'

afterEach(() => vi.unstubAllGlobals())

const thing = (id: string, name = id): RecentItem => ({ kind: 'devbox', id, name, href: `/devboxes/${id}` })

it('keeps each item once, latest first, with its latest name', () => {
  const items = [thing('a'), { action: 'Sign out' }, thing('b')].reduce(withRecent, [] as RecentItem[])
  expect(withRecent(items, thing('a', 'renamed'))).toEqual([thing('a', 'renamed'), thing('b'), { action: 'Sign out' }])
})

it('drops the oldest', () => {
  const items = Array.from({ length: 40 }, (_, at) => thing(`t${at}`)).reduce(withRecent, [] as RecentItem[])
  expect(items).toHaveLength(30)
  expect(items[0]).toEqual(thing('t39'))
})

/** Keys are own properties, as in a browser. */
class MemoryStorage {
  [key: string]: unknown
  getItem(key: string) {
    return Object.hasOwn(this, key) ? this[key] : null
  }
  setItem(key: string, value: string) {
    this[key] = value
  }
  removeItem(key: string) {
    delete this[key]
  }
}

it('belongs to one account until it signs out', () => {
  vi.stubGlobal('localStorage', new MemoryStorage())
  recentItems.add(thing('a'), 'one')
  recentItems.add(thing('b'), 'two')
  expect([recentItems.read('one'), recentItems.read('two'), recentItems.read('three')]).toEqual([
    [thing('a')],
    [thing('b')],
    [],
  ])
  recentItems.clear('one')
  expect([recentItems.read('one'), recentItems.read('two')]).toEqual([[], [thing('b')]])
  recentItems.clearAll()
  expect(recentItems.read('two')).toEqual([])
})

it('ignores invalid items, such as an address elsewhere', () => {
  vi.stubGlobal('localStorage', new MemoryStorage())
  const foreign = { ...thing('a'), href: '//evil.example' }
  localStorage.setItem('devdeck:recent:one', JSON.stringify([foreign, null, 3, { kind: 'devbox' }, thing('b')]))
  expect(recentItems.read('one')).toEqual([thing('b')])
})
