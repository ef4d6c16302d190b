import { expect, it } from 'vitest'
import { type RecentItem, withRecent } from './recent.ts'

const thing = (id: string, name = id): RecentItem => ({ kind: 'devbox', id, name, href: `/devboxes/${id}` })

it('keeps each thing once, the last first, with its last name', () => {
  const items = [thing('a'), { action: 'Sign out' }, thing('b')].reduce(withRecent, [] as RecentItem[])
  expect(withRecent(items, thing('a', 'renamed'))).toEqual([thing('a', 'renamed'), thing('b'), { action: 'Sign out' }])
})

it('drops the oldest', () => {
  const items = Array.from({ length: 40 }, (_, at) => thing(`t${at}`)).reduce(withRecent, [] as RecentItem[])
  expect(items).toHaveLength(30)
  expect(items[0]).toEqual(thing('t39'))
})
