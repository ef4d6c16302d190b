import { AsyncLocalStorage } from 'node:async_hooks'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Language, languageOf } from './languages.ts'
import { type Catalogue, languageCookie, type Spoken, serverSpeech } from './translate.ts'

/** Of the server alone: several requests in several languages are answered at once, by modules that are bundled twice. */
const requests = new AsyncLocalStorage<Spoken>()
Object.assign(globalThis, { [serverSpeech]: () => requests.getStore() })

/** Does `answer`, and all that comes of it, in the language that the browser has chosen. */
export const inLanguageOf = (cookies: string | undefined, answer: () => void): void => {
  const [, chosen] = cookie.exec(cookies ?? '') ?? []
  const language = languageOf(chosen)
  if (language === 'en') answer()
  else requests.run({ language, words: catalogueOf(language) }, answer)
}

const cookie = new RegExp(`(?:^|; *)${languageCookie}=([^;]*)`)

const read = new Map<Language, Catalogue>()
const catalogueOf = (language: Language): Catalogue => {
  let found = read.get(language)
  if (!found) {
    found = JSON.parse(readFileSync(join(import.meta.dirname, `catalogues/${language}.json`), 'utf8')) as Catalogue
    read.set(language, found)
  }
  return found
}
