/** What the frame remembers in cookies, so that the server draws it right the first time. */
export const preferenceCookies = {
  theme: 'devdeck_theme',
  sidebar: 'devdeck_sidebar',
  /** Of this browser session only. */
  isolationNotice: 'devdeck_isolation_notice',
} as const

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

export const themeOf = (cookie: string | undefined): Theme => themes.find((theme) => theme === cookie) ?? 'system'

const yearSeconds = 365 * 24 * 3600

/** The cookie as `document.cookie` takes it. Values are our own words and need no encoding. */
export const preferenceCookie = (name: keyof typeof preferenceCookies, value: string): string => {
  const lifetime = name === 'isolationNotice' ? '' : `; max-age=${yearSeconds}`
  return `${preferenceCookies[name]}=${value}; path=/; samesite=lax${lifetime}`
}
