import { expect, it } from 'vitest'
import { docPages, docsIndex, listDocs, readDoc, sectionsOf } from './docs.ts'

it('splits a page at its headings, outside code', () => {
  const markdown = [
    '# The `title`',
    'First [link](x.md) here.',
    '## Dead letters & more',
    '```sh',
    '# not a heading',
    '```',
    '| a | b |',
    '| --- | --- |',
    '| **one** | `two` |',
  ].join('\n')
  expect(sectionsOf('page', markdown)).toEqual([
    { page: 'page', page_title: 'The title', anchor: '', heading: 'The title', text: 'First link here.' },
    {
      page: 'page',
      page_title: 'The title',
      anchor: 'dead-letters--more',
      heading: 'Dead letters & more',
      text: '# not a heading a b one two',
    },
  ])
})

it('indexes every page, each heading once', async () => {
  const { sections } = await docsIndex()
  expect([...new Set(sections.map(({ page }) => page))]).toEqual(await docPages())
  const addresses = sections.map(({ page, anchor }) => `${page}#${anchor}`)
  expect(new Set(addresses).size).toBe(addresses.length)
  for (const { title, summary } of await listDocs())
    expect([title, summary].every((text) => text.length > 3)).toBe(true)
})

it('reads no other file', async () => {
  for (const name of ['faults', 'decisions', '../README', '..', '', 'no-such-page'])
    expect(await readDoc(name)).toBeUndefined()
})
