/** `12.3K`: a number of tokens in few digits. */
export const formatTokens = (tokens: number): string =>
  new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 }).format(tokens)

/** `$1.23`; what is less than a cent has as many digits as tell it. */
export const formatUsd = (usd: number): string =>
  usd === 0 || usd >= 0.01
    ? `$${usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
    : `$${Number(usd.toPrecision(2))}`
