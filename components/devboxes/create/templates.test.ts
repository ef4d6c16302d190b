import { expect, it } from 'vitest'
import { forgetTemplate, keepTemplate, readTemplates } from './templates.ts'

const storage = (text?: string) => {
  const kept = new Map(text === undefined ? [] : [['devdeck.devbox-templates', text]])
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  }
}

it('keeps what a devbox is made with under a name, but no value that looks secret', () => {
  const store = storage()
  const body = { environment_variables: { NODE_ENV: 'test', API_TOKEN: 'abcd-1234-efgh' }, secrets: { KEY: 'STORED' } }
  expect(keepTemplate(store, { name: 'web', body: { name: 'old' } })).toBe(true)
  keepTemplate(store, { name: 'other', body: {} })
  keepTemplate(store, { name: 'web', body })
  expect(readTemplates(store)).toEqual([
    { name: 'web', body: { ...body, environment_variables: { NODE_ENV: 'test', API_TOKEN: '' } } },
    { name: 'other', body: {} },
  ])
  forgetTemplate(store, 'web')
  expect(readTemplates(store).map(({ name }) => name)).toEqual(['other'])
})

it('has none where the browser keeps nothing, or something else', () => {
  for (const text of ['{', '{}', '[1,{"name":"x"},null]']) expect(readTemplates(storage(text))).toEqual([])
  expect(readTemplates(undefined)).toEqual([])
  const full = {
    getItem: () => null,
    setItem: () => {
      throw new Error('full')
    },
  }
  expect(keepTemplate(full, { name: 'web', body: {} })).toBe(false)
})
