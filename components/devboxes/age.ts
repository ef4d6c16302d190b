const minuteMs = 60_000
const unitMs: Record<string, number> = { min: minuteMs, h: 60 * minuteMs, d: 24 * 60 * minuteMs }
const pattern = /^(\d{1,5})(min|h|d)$/

/** `30min`, `24h`, `7d`. */
export const isAge = (text: string): boolean => pattern.test(text)

export const ageInMs = (text: string): number => {
  const [, amount, unit = ''] = pattern.exec(text) ?? []
  return Number(amount) * (unitMs[unit] ?? Number.NaN)
}

/** Shortens typed text such as `24 hours` to `24h`. Returns other text unchanged. */
export const normalizeAge = (text: string): string => {
  const [, amount, unit = ''] = /^\s*(\d{1,5})\s*(m|h|d)[a-z]*\s*$/i.exec(text) ?? []
  return amount === undefined ? text : `${amount}${unit.toLowerCase() === 'm' ? 'min' : unit.toLowerCase()}`
}
