const secondsOf = { s: 1, m: 60, h: 3600, d: 86_400 } as const
type Unit = keyof typeof secondsOf
const units: readonly Unit[] = ['d', 'h', 'm', 's']

/** Seconds of "90m", "1h 30m", "2 hours" or "45 min"; undefined for anything else, such as a number without a unit. */
export const parseDuration = (text: string): number | undefined => {
  const words = text.trim().toLowerCase()
  const part = /(\d+(?:\.\d+)?)\s*(s|sec|secs|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?=[\s\d,]|$)/g
  const found = [...words.matchAll(part)]
  if (found.length === 0 || words.replaceAll(part, '').replaceAll(/[\s,]/g, '') !== '') return undefined
  const seconds = found.reduce((sum, [, amount, unit]) => sum + Number(amount) * secondsOf[unit?.[0] as Unit], 0)
  return Math.round(seconds)
}

/** "1h 30m", which `parseDuration` reads. */
export const durationText = (seconds: number): string => {
  let left = seconds
  const parts = units.flatMap((unit) => {
    const amount = Math.floor(left / secondsOf[unit])
    left -= amount * secondsOf[unit]
    return amount > 0 ? [`${amount}${unit}`] : []
  })
  return parts.join(' ') || '0s'
}
