import type { Language } from './languages.ts'

export type Text = string
export type CountedText = string

/** The texts of a language by their English; those that go by a count by the plural categories of the language. */
export type Catalogue = Readonly<Record<string, string | Readonly<Record<string, string>>>>

export interface Spoken {
  language: Language
  /** Absent for English. */
  words?: Catalogue
  /** What the frame holds is a page in English. */
  isPageEnglish?: boolean
}

type Values = Readonly<Record<string, string | number>>

/** The cookie that keeps what was chosen. Not beside the languages: every page needs it, and the settings alone need those. */
export const languageCookie = 'devdeck_language'

/** What a server gives for the request it answers; see `request-language.ts`. */
export const serverSpeech = Symbol.for('devdeck.language')
const server = globalThis as { [serverSpeech]?: () => Spoken | undefined }

const english: Spoken = { language: 'en' }
let ofPage = english

/** What this page is drawn in. One document is in one language for good: another choice loads it again. */
export const spoken = (): Spoken => (typeof document === 'undefined' ? server[serverSpeech]?.() : ofPage) ?? english

/** For the root of a page, before anything in it is drawn. */
export const speak = (next: Spoken = english): void => {
  ofPage = next
}

/** For the frame, as it is drawn around a page: not every page is translated as the frame is. */
export const drawEnglishPage = (isPageEnglish: boolean): void => {
  if (spoken() !== english) spoken().isPageEnglish = isPageEnglish
}

/** Of numbers and times. They stand in the sentences of the page, and a sentence is in one language. */
export const numberLanguage = (): Language => (spoken().isPageEnglish ? 'en' : spoken().language)

/** For what is translated inside of what stays English; undefined where both are one. */
export const foreignTag = (language = spoken().language): Language | undefined =>
  language === 'en' ? undefined : language

/**
 * The text in the language of the page, `{name}` being the value of that name. While something is drawn or done only: what
 * is asked for as a module is loaded would be English for good.
 */
export const t = (text: Text, values?: Values): string =>
  fill((spoken().words?.[text] as string) ?? text.replace(/\|.*/, ''), values)

/** A table of texts, as a page shows it. */
export const translatedWords = <Key extends string>(words: Readonly<Record<Key, Text>>): Record<Key, string> =>
  Object.fromEntries(Object.entries<Text>(words).map(([key, text]) => [key, t(text)])) as Record<Key, string>

/** `1 run`, `12 runs`: the text for a count, which stands in it as `{count}`. */
export const counted = (count: number, one: string, many: CountedText, values?: Values): string => {
  const { language, words } = spoken()
  const forms = words?.[many] as Readonly<Record<string, string>> | undefined
  const form = forms?.[new Intl.PluralRules(language).select(count)] ?? forms?.other
  return fill(form ?? (count === 1 ? one : many), { ...values, count: countIn(language, count) })
}

/** 1234567 as "1,234,567". */
export const formatCount = (count: number): string => countIn(numberLanguage(), count)

const countIn = (language: Language, count: number): string => new Intl.NumberFormat(language).format(count)

/** `1 run`, `12 runs`, in what is in English alone. */
export const formatCountOf = (count: number, one: string, many = `${one}s`): string =>
  `${countIn('en', count)} ${count === 1 ? one : many}`

const fill = (text: string, values?: Values): string =>
  values ? text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? '')) : text

const units = { millisecond: 'ms', second: 's', minute: 'min', hour: 'h', day: 'd' } as const
export type Unit = keyof typeof units

/** "3 min", in the words of the language: "3 Min.", "3 分". */
export const formatUnit = (amount: number, unit: Unit, digits = 0): string => {
  const language = numberLanguage()
  if (language === 'en') return `${amount.toFixed(digits)} ${units[unit]}`
  return new Intl.NumberFormat(language, {
    style: 'unit',
    unit,
    unitDisplay: 'short',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(amount)
}
