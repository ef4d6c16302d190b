const browsers = { Edg: 'Edge', OPR: 'Opera', Firefox: 'Firefox', Chrome: 'Chrome', Safari: 'Safari' }
const systems = {
  Android: 'Android',
  iPhone: 'iOS',
  iPad: 'iPadOS',
  Windows: 'Windows',
  'Mac OS': 'macOS',
  CrOS: 'ChromeOS',
  Linux: 'Linux',
}

/** Such as "Chrome on Linux". Uses only known words, because other people see it. */
export const browserName = (userAgent: string): string => {
  const named = (words: Record<string, string>) => Object.entries(words).find(([mark]) => userAgent.includes(mark))?.[1]
  const system = named(systems)
  return `${named(browsers) ?? 'A program'}${system === undefined ? '' : ` on ${system}`}`
}
