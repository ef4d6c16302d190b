/** `12.3K` */
export const formatTokens = (tokens: number): string =>
  new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 }).format(tokens)

/** `$1.23`, or two significant digits below one cent. */
export const formatUsd = (usd: number): string =>
  usd === 0 || usd >= 0.01
    ? `$${usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
    : `$${Number(usd.toPrecision(2))}`
