/** The words of a command, split like a shell does, without expansions. */
export const shellWords = (text: string): string[] =>
  [...text.matchAll(/(?:[^\s"'\\]|\\.|"(?:\\.|[^"\\])*"|'[^']*')+/gs)].map(([word]) =>
    word.replace(
      /"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/gs,
      (_, double?: string, single?: string, escaped?: string) =>
        double?.replace(/\\(["\\$`])/g, '$1') ?? single ?? escaped ?? '',
    ),
  )

const milliseconds: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 1 / 1000 }

/** A duration like `1m30s`. NaN if invalid. */
export const millisecondsOf = (text: string): number => {
  if (!/^(\d+(\.\d+)?(h|ms|m|s|us))+$/.test(text)) return Number.NaN
  return [...text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s|us)/g)].reduce(
    (sum, [, number, unit = '']) => sum + Number(number) * (milliseconds[unit] ?? 0),
    0,
  )
}

/** A size like `512m`. NaN if invalid. */
export const bytesOf = (text: string): number => {
  const [, number, unit = 'b'] = /^(\d+(?:\.\d+)?)\s*([bkmgt])?i?b?$/i.exec(text) ?? []
  return number === undefined ? Number.NaN : Math.floor(Number(number) * 1024 ** 'bkmgt'.indexOf(unit.toLowerCase()))
}
