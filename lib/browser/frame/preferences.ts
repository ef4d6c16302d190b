/** Cookies of preferences that the server needs for the first render. */
export const preferenceCookies = {
  theme: 'devdeck_theme',
  sidebar: 'devdeck_sidebar',
  isolationNotice: 'devdeck_isolation_notice',
  axonColumns: 'devdeck_axon_columns',
  devboxColumns: 'devdeck_devbox_columns',
  snapshotColumns: 'devdeck_snapshot_columns',
  blueprintColumns: 'devdeck_blueprint_columns',
  secretColumns: 'devdeck_secret_columns',
  policyColumns: 'devdeck_policy_columns',
  agentColumns: 'devdeck_agent_columns',
  objectColumns: 'devdeck_object_columns',
  gatewayColumns: 'devdeck_gateway_columns',
  mcpColumns: 'devdeck_mcp_columns',
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

export const isTimeZone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return name !== ''
  } catch {
    return false
  }
}

/** Preferences as data attributes of the <html> element, for styles and scripts. */
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

/** Browsers limit a cookie to about 4 kB, and servers limit all cookies of a request to about 16 kB. */
const maxValueLength = 1500

/** Formats a cookie for `document.cookie`. Deletes it if the value is empty or too long. */
export const preferenceCookie = (name: keyof typeof preferenceCookies, value: string): string => {
  const text = encodeURIComponent(value)
  const isSaved = text !== '' && text.length <= maxValueLength
  const lifetime = name === 'isolationNotice' ? '' : `; max-age=${isSaved ? yearSeconds : 0}`
  return `${preferenceCookies[name]}=${isSaved ? text : ''}; path=/; samesite=lax${lifetime}`
}
