/** What the frame remembers in cookies, so that the server draws it right the first time. */
export const preferenceCookies = {
  theme: 'devdeck_theme',
  sidebar: 'devdeck_sidebar',
  /** Of this browser session only. */
  isolationNotice: 'devdeck_isolation_notice',
  axonColumns: 'devdeck_axon_columns',
} as const

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

export const themeOf = (cookie: string | undefined): Theme => themes.find((theme) => theme === cookie) ?? 'system'

const yearSeconds = 365 * 24 * 3600

/** Browsers drop a cookie that is longer than some 4 kB. */
const maxValueLength = 2000

/** The cookie as `document.cookie` takes it; an empty or an overlong value is forgotten. */
export const preferenceCookie = (name: keyof typeof preferenceCookies, value: string): string => {
  const text = encodeURIComponent(value)
  const isKept = text !== '' && text.length <= maxValueLength
  const lifetime = name === 'isolationNotice' ? '' : `; max-age=${isKept ? yearSeconds : 0}`
  return `${preferenceCookies[name]}=${isKept ? text : ''}; path=/; samesite=lax${lifetime}`
}
