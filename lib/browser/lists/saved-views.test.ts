import { expect, it } from 'vitest'
import { browserStore } from '../frame/kept-items.ts'
import { forgetView, keepView, nameRefusal, readViews, renameView, viewsOfList } from './saved-views.ts'

const key = 'devdeck.saved-views'
const memory = (kept: Record<string, string> = {}) => ({
  getItem: (name: string) => kept[name] ?? null,
  setItem: (name: string, text: string) => {
    kept[name] = text
  },
})

it('keeps addresses by name, renames them and forgets them', () => {
  const store = memory()
  expect(keepView(store, { name: ' mine ', href: '/devboxes?status=running' })).toBe(true)
  expect(keepView(store, { name: 'failed', href: '/benchmark-jobs?state=failed&columns=name,id' })).toBe(true)
  expect(viewsOfList(readViews(store), '/devboxes?search=a')).toEqual([
    { name: 'mine', href: '/devboxes?status=running' },
  ])
  expect(renameView(store, 'mine', 'running ones')).toBe(true)
  expect(forgetView(store, 'failed')).toBe(true)
  expect(readViews(store)).toEqual([{ name: 'running ones', href: '/devboxes?status=running' }])
})

it('has no two views of one name, and none without', () => {
  const views = [{ name: 'mine', href: '/axons' }]
  expect(nameRefusal(views, ' mine ')).toBe('another view has this name')
  expect(nameRefusal(views, ' ')).toBe('it needs a name')
  expect(nameRefusal(views, 'yours')).toBeNull()
})

it.each(['', 'no JSON', '{}', 'null', '[1, null, {"name": "x"}]', '[{"name": "", "href": "/axons"}]'])(
  'takes %j for no view',
  (kept) => expect(readViews(memory({ [key]: kept }))).toEqual([]),
)

it.each([
  '//elsewhere.example',
  'javascript:alert(1)',
  'https://elsewhere.example/',
  '/api/v1/devboxes',
  '/\\x',
  '/sign-in',
])('leads nowhere but to pages of the console: not to %s', (href) =>
  expect(readViews(memory({ [key]: JSON.stringify([{ name: 'x', href }]) }))).toEqual([]),
)

it('says when the browser keeps nothing', () => {
  const full = {
    ...memory(),
    setItem: () => {
      throw new Error('full')
    },
  }
  expect(keepView(full, { name: 'x', href: '/axons' })).toBe(false)
  expect(keepView(undefined, { name: 'x', href: '/axons' })).toBe(false)
  expect(browserStore()?.getItem).toBeUndefined()
})
