// A byte of a name that isn't UTF-8 is a lone surrogate: U+DCFF stands for 0xFF.

/** Quotes a text as one word for a POSIX shell. */
export const shellQuote = (text: string): string =>
  `'${text.replaceAll("'", "'\\''")}'`.replace(/[\uDC80-\uDCFF]+/gu, (surrogates) => {
    const octal = [...surrogates].map((each) => `\\${(each.charCodeAt(0) - 0xdc00).toString(8)}`)
    return `'"$(printf '${octal.join('')}')"'`
  })

/** Quotes a path that is absolute, relative to the home folder or below `~`. */
export const quotePath = (path: string): string => {
  if (path === '~' || path === '') return '"$HOME"'
  if (path.startsWith('/')) return shellQuote(path)
  return `"$HOME"/${shellQuote(path.replace(/^~\//, ''))}`
}
