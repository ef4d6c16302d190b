import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sourceFiles, textOf } from '../../scripts/source-files.ts'
import german from './catalogues/de.json' with { type: 'json' }
import { languages } from './languages.ts'
import type { Catalogue } from './translate.ts'

const folder = join(import.meta.dirname, 'catalogues')
const catalogues = globSync('*.json', { cwd: folder }).map((file): [language: string, Catalogue] => [
  file.slice(0, -'.json'.length),
  JSON.parse(readFileSync(join(folder, file), 'utf8')),
])

/** What stands in a text for something else. A language may leave out a noun, whose gender or case it would have to know. */
const placesIn = (text: string) =>
  (text.match(/\{\w+\}|…/g) ?? []).filter((place) => place !== '{noun}' && place !== '{nouns}').sort()

it('has a catalogue for each language but English', () => {
  expect(catalogues.map(([language]) => language).sort()).toEqual(
    Object.keys(languages)
      .filter((language) => language !== 'en')
      .sort(),
  )
})

it('has no text that the code does not ask for', () => {
  const source = sourceFiles
    .filter((file) => !file.startsWith('lib/language/') && !/\.test\.tsx?$/.test(file))
    .map(textOf)
    .join('\n')
  const isAsked = (text: string) =>
    [`'${text.replaceAll("'", "\\'")}'`, `"${text}"`].some((literal) => source.includes(literal))
  expect(Object.keys(german).filter((text) => !isAsked(text))).toEqual([])
})

describe.each(catalogues)('%s', (language, catalogue) => {
  it('has each text once', () => {
    expect(Object.keys(catalogue).sort()).toEqual(Object.keys(german).sort())
  })

  it('keeps what stands for something else', () => {
    const changed = Object.entries(catalogue).filter(([english, translation]) =>
      (typeof translation === 'string' ? [translation] : Object.values(translation)).some(
        (text) => text.trim() === '' || placesIn(text).join() !== placesIn(english).join(),
      ),
    )
    expect(changed).toEqual([])
  })

  it('has the plural forms of its language', () => {
    const needed = new Intl.PluralRules(language).resolvedOptions().pluralCategories.toSorted()
    const forms = Object.entries(catalogue).flatMap(([english, translation]) =>
      typeof translation === 'string' ? [] : [[english, ...Object.keys(translation).sort()]],
    )
    expect(forms.length).toBeGreaterThan(0)
    expect(forms).toEqual(forms.map(([english]) => [english, ...needed]))
  })
})
