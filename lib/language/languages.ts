/** The languages of the pages, each by its own name. */
export const languages = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  fr: 'Français',
  it: 'Italiano',
  'pt-BR': 'Português (Brasil)',
  hi: 'हिन्दी',
  ja: '日本語',
  ko: '한국어',
  'zh-Hans': '简体中文',
  'zh-Hant': '繁體中文',
} as const

export type Language = keyof typeof languages

/**
 * Unspecified: where a language comes from. Only from a choice in the settings, not from what the browser says it
 * accepts: most of a page's explanations are in English alone, so a page that is partly translated has to be asked for.
 */
export const languageOf = (cookie: string | undefined): Language =>
  cookie !== undefined && Object.hasOwn(languages, cookie) ? (cookie as Language) : 'en'
