export interface SqlPiece {
  sql: string
  /** Offset in the whole text. */
  start: number
  /** Line in the whole text, starting at 1. */
  line: number
}

/** Splits SQL at the semicolons that end statements. Drops empty statements; does not validate. */
export const splitStatements = (text: string): SqlPiece[] => {
  const pieces: SqlPiece[] = []
  let start = 0
  let words: string[] = []
  // Nesting of BEGIN and CASE inside a trigger.
  let depth = 0
  const cut = (end: number) => {
    if (words.length > 0) {
      const raw = text.slice(start, end)
      const lead = /^\s*/.exec(raw)?.[0].length ?? 0
      pieces.push({ sql: raw.trim(), start: start + lead, line: text.slice(0, start + lead).split('\n').length })
    }
    words = []
    depth = 0
  }
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (token === ';' && depth <= 0) {
      cut(index)
      start = index + 1
    } else if (/^[\p{L}_]/u.test(token)) {
      const word = token.toUpperCase()
      words.push(word)
      if (!isTrigger(words)) continue
      if (word === 'BEGIN' || word === 'CASE') depth += 1
      if (word === 'END') depth -= 1
    } else if (!/^(--|\/\*|;)/.test(token)) words.push(token)
  }
  cut(text.length)
  return pieces
}

/** Appends a statement. */
export const withStatement = (text: string, sql: string): string => {
  const before = text.trimEnd()
  if (before === '') return sql
  // A trailing line comment would swallow the semicolon.
  const end = before.endsWith(';') ? '' : /--[^\n]*$/.test(before) ? '\n;' : ';'
  return `${before}${end}\n\n${sql}`
}

// Comments, quoted text (to the end if unclosed), words, and any other character.
const tokens =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$)|\[[^\]]*(?:\]|$)|[\p{L}_][\p{L}\p{N}_$]*|[^\s]/gu

const isTrigger = (words: readonly string[]) => words[0] === 'CREATE' && words.slice(1, 3).includes('TRIGGER')

/** Parses parameters typed as a JSON array; empty means none. */
export const readParams = (text: string): { ok: true; params: unknown[] } | { ok: false; message: string } => {
  if (text.trim() === '') return { ok: true, params: [] }
  try {
    const params: unknown = JSON.parse(text)
    return Array.isArray(params) ? { ok: true, params } : { ok: false, message: 'Enter a JSON array, such as ["a", 1]' }
  } catch {
    return { ok: false, message: 'Invalid JSON. Enter a JSON array, such as ["a", 1]' }
  }
}
