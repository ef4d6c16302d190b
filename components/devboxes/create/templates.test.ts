import { expect, it } from 'vitest'
import { deleteTemplate, readTemplates, saveTemplate } from './templates.ts'

const storage = (text?: string) => {
  const items = new Map(text === undefined ? [] : [['devdeck.devbox-templates', text]])
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
  }
}

it('saves templates by name, without values that look secret', () => {
  const store = storage()
  const body = { environment_variables: { NODE_ENV: 'test', API_TOKEN: 'abcd-1234-efgh' }, secrets: { KEY: 'STORED' } }
  expect(saveTemplate(store, { name: 'web', body: { name: 'old' } })).toBe(true)
  saveTemplate(store, { name: 'other', body: {} })
  saveTemplate(store, { name: 'web', body })
  expect(readTemplates(store)).toEqual([
    { name: 'web', body: { ...body, environment_variables: { NODE_ENV: 'test', API_TOKEN: '' } } },
    { name: 'other', body: {} },
  ])
  deleteTemplate(store, 'web')
  expect(readTemplates(store).map(({ name }) => name)).toEqual(['other'])
})

it('ignores unreadable storage', () => {
  for (const text of ['{', '{}', '[1,{"name":"x"},null]']) expect(readTemplates(storage(text))).toEqual([])
  expect(readTemplates(undefined)).toEqual([])
  const full = {
    getItem: () => null,
    setItem: () => {
      throw new Error('full')
    },
  }
  expect(saveTemplate(full, { name: 'web', body: {} })).toBe(false)
})
