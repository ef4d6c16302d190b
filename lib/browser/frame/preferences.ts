/** What the frame remembers in cookies, so that the server draws it right the first time. */
export const preferenceCookies = {
  theme: 'devdeck_theme',
  sidebar: 'devdeck_sidebar',
  /** Of this browser session only. */
  isolationNotice: 'devdeck_isolation_notice',
  axonColumns: 'devdeck_axon_columns',
  devboxColumns: 'devdeck_devbox_columns',
  snapshotColumns: 'devdeck_snapshot_columns',
  jobColumns: 'devdeck_job_columns',
  runColumns: 'devdeck_run_columns',
  scenarioColumns: 'devdeck_scenario_columns',
  timeZone: 'devdeck_time_zone',
  density: 'devdeck_density',
  letters: 'devdeck_letters',
} as const

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

export const themeOf = (cookie: string | undefined): Theme => themes.find((theme) => theme === cookie) ?? 'system'

/** Whether times can be told in a zone of this name. */
export const isTimeZone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return name !== ''
  } catch {
    return false
  }
}

/** What the root of the document says of the choices of a browser, for the styles and the code of its pages. */
export const rootChoices = (cookie: (name: string) => string | undefined) => {
  const theme = themeOf(cookie(preferenceCookies.theme))
  const timeZone = cookie(preferenceCookies.timeZone) ?? ''
  return {
    'data-theme': theme === 'system' ? undefined : theme,
    'data-time-zone': isTimeZone(timeZone) ? timeZone : undefined,
    'data-density': cookie(preferenceCookies.density) === 'compact' ? 'compact' : undefined,
    'data-letters': cookie(preferenceCookies.letters) === 'off' ? 'off' : undefined,
  }
}

const yearSeconds = 365 * 24 * 3600

/** Browsers drop a cookie that is longer than some 4 kB, and servers a request whose cookies are longer than some 16 kB together. */
const maxValueLength = 1500

/** The cookie as `document.cookie` takes it; an empty or an overlong value is forgotten. */
export const preferenceCookie = (name: keyof typeof preferenceCookies, value: string): string => {
  const text = encodeURIComponent(value)
  const isKept = text !== '' && text.length <= maxValueLength
  const lifetime = name === 'isolationNotice' ? '' : `; max-age=${isKept ? yearSeconds : 0}`
  return `${preferenceCookies[name]}=${isKept ? text : ''}; path=/; samesite=lax${lifetime}`
}
