export type Text = string

type Values = Readonly<Record<string, string | number>>

/** Fills `{name}` with the value of that name. What follows a bar in `text` is not shown. */
export const t = (text: Text, values?: Values): string => fill(text.replace(/\|.*/, ''), values)

/** A table of texts, as a page shows it. */
export const translatedWords = <Key extends string>(words: Readonly<Record<Key, Text>>): Record<Key, string> =>
  Object.fromEntries(Object.entries<Text>(words).map(([key, text]) => [key, t(text)])) as Record<Key, string>

/** `1 run`, `12 runs`: the text for a count, with the count in place of `{count}`. */
export const counted = (count: number, one: string, many: string, values?: Values): string =>
  fill(count === 1 ? one : many, { ...values, count: formatCount(count) })

/** 1234567 as "1,234,567". */
export const formatCount = (count: number): string => numbers.format(count)
const numbers = new Intl.NumberFormat('en')

/** `1 run`, `12 runs`. */
export const formatCountOf = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`

const fill = (text: string, values?: Values): string =>
  values ? text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? '')) : text

const units = { millisecond: 'ms', second: 's', minute: 'min', hour: 'h', day: 'd' } as const
export type Unit = keyof typeof units

/** "3 min", "4.0 s". */
export const formatUnit = (amount: number, unit: Unit, digits = 0): string => `${amount.toFixed(digits)} ${units[unit]}`
