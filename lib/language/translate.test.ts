import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { languageOf } from './languages.ts'
import { inLanguageOf } from './request-language.ts'
import {
  counted,
  drawEnglishPage,
  foreignTag,
  formatCount,
  formatUnit,
  numberLanguage,
  spoken,
  t,
} from './translate.ts'

/** What `ask` says to a browser with these cookies. */
const said = <Said>(cookies: string | undefined, ask: () => Said | Promise<Said>): Promise<Said> =>
  new Promise((resolve) => inLanguageOf(cookies, () => resolve(ask())))

const german = 'devdeck_theme=dark; devdeck_language=de'

it('knows the languages there are, and takes all else for English', () => {
  expect([undefined, 'de', 'pt-BR', 'xx', 'toString'].map(languageOf)).toEqual(['en', 'de', 'pt-BR', 'en', 'en'])
})

it('says a text in the language of the request', async () => {
  const ask = () => [t('Showing {shown} of {total}', { shown: 1, total: 2 }), formatCount(12_345), foreignTag()]
  expect(await said(undefined, ask)).toEqual(['Showing 1 of 2', '12,345', undefined])
  expect(await said(german, ask)).toEqual(['1 von 2 angezeigt', '12.345', 'de'])
  expect(await said('devdeck_language=../../x', ask)).toEqual(['Showing 1 of 2', '12,345', undefined])
})

it('counts as the language does', async () => {
  const ask = () => [0, 1, 1200].map((count) => counted(count, '{count} devbox', '{count} devboxes'))
  expect(await said(undefined, ask)).toEqual(['0 devboxes', '1 devbox', '1,200 devboxes'])
  expect(await said(german, ask)).toEqual(['0 Devboxen', '1 Devbox', '1.200 Devboxen'])
})

it('tells amounts in its own words in English, and in those of Intl elsewhere', async () => {
  const ask = () => [formatUnit(3, 'minute'), formatUnit(4, 'second', 1)]
  expect(await said(undefined, ask)).toEqual(['3 min', '4.0 s'])
  expect(await said(german, ask)).toEqual(['3 Min.', '4,0 Sek.'])
})

it('tells numbers and times of a page in English in English, whatever its frame is in', async () => {
  const ask = () => {
    drawEnglishPage(true)
    const english = [formatCount(12_345), formatUnit(3, 'minute'), foreignTag(numberLanguage())]
    const ofFrame = [t('just now'), counted(1200, '{count} devbox', '{count} devboxes')]
    drawEnglishPage(false)
    return { english, ofFrame, translated: [formatCount(12_345), foreignTag(numberLanguage())] }
  }
  expect(await said(german, ask)).toEqual({
    english: ['12,345', '3 min', undefined],
    ofFrame: ['gerade eben', '1.200 Devboxen'],
    translated: ['12.345', 'de'],
  })
  await said(undefined, ask)
  expect(await said(german, () => formatCount(12_345))).toBe('12.345')
})

it('keeps requests that are answered at the same time apart', async () => {
  const ask = async () => {
    await setImmediate()
    return spoken().language
  }
  expect(await Promise.all([said(german, ask), said(undefined, ask), said(german, ask)])).toEqual(['de', 'en', 'de'])
})
