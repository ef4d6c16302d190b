/** The languages of the pages, each by its own name. */
export const languages = {
  en: 'English',
  de: 'Deutsch',
} as const

export type Language = keyof typeof languages

/** The cookie that keeps what was chosen. */
export const languageCookie = 'devdeck_language'

/**
 * Unspecified: where a language comes from. Only from a choice in the settings, not from what the browser says it
 * accepts: most of a page's explanations are in English alone, so a page that is partly translated has to be asked for.
 */
export const languageOf = (cookie: string | undefined): Language =>
  cookie !== undefined && Object.hasOwn(languages, cookie) ? (cookie as Language) : 'en'
