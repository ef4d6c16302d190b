/** Ages as an address writes them: `30min`, `24h`, `7d`. */

const minuteMs = 60_000
const unitMs: Record<string, number> = { min: minuteMs, h: 60 * minuteMs, d: 24 * 60 * minuteMs }
const pattern = /^(\d{1,5})(min|h|d)$/

export const isAge = (text: string): boolean => pattern.test(text)

export const ageInMs = (text: string): number => {
  const [, amount, unit = ''] = pattern.exec(text) ?? []
  return Number(amount) * (unitMs[unit] ?? Number.NaN)
}

/** What somebody typed, as an address writes it: `24 hours` is `24h`; what is not understood stays as it is. */
export const typedAge = (text: string): string => {
  const [whole, amount, unit = ''] = /^\s*(\d{1,5})\s*(m|h|d)[a-z]*\s*$/i.exec(text) ?? []
  return whole === undefined ? text : `${amount}${unit.toLowerCase() === 'm' ? 'min' : unit.toLowerCase()}`
}
