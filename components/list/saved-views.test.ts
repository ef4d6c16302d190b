import { expect, it } from 'vitest'
import { withView } from './saved-views.ts'

const views = [
  { name: 'Mine', href: '/devboxes?search=a' },
  { name: 'Mine', href: '/axons?search=a' },
]

it('replaces a view of the same list and name, and adds others', () => {
  const changed = { name: 'Mine', href: '/devboxes?search=b' }
  expect(withView(views, changed)).toEqual([changed, views[1]])
  const added = { name: 'Failed', href: '/devboxes?status=failure' }
  expect(withView(views, added)).toEqual([...views, added])
})
