import { expect, it } from 'vitest'
import { excerptOf, findDocs } from './docs-search.ts'

const section = (heading: string, text = '', page_title = 'Alerts') => ({
  page: 'alerts',
  page_title,
  anchor: heading.toLowerCase(),
  heading,
  text,
})

const sections = [
  section('Drain', 'Mentions receivers once'),
  section('Slack receivers'),
  section('Receivers'),
  section('Silences'),
]

it('finds headings before text', () => {
  expect(findDocs(sections, 'receivers', 5).map(({ heading }) => heading)).toEqual([
    'Receivers',
    'Slack receivers',
    'Drain',
  ])
  expect(findDocs(sections, 'receivers', 1)).toHaveLength(1)
  expect(findDocs(sections, 'alerts silences', 5).map(({ heading }) => heading)).toEqual(['Silences'])
  expect(findDocs(sections, 'nowhere', 5)).toEqual([])
})

it('quotes the text around a match', () => {
  const text = 'Receivers get every state: raised, acknowledged, closed. They are stored and retried.'
  expect(excerptOf(text, 'RECEIVERS')).toBe(text)
  expect(excerptOf(text, 'retried')).toBe('… closed. They are stored and retried.')
  expect(excerptOf(text, 'nowhere')).toBeUndefined()
})
