export interface SqlPiece {
  sql: string
  /** Where it starts in the whole text. */
  start: number
  /** Line of the whole text it starts at, from 1. */
  line: number
}

/**
 * The statements of a text, parted at the semicolons that end one: not those in strings, quoted names, comments or the
 * body of a trigger. Pieces without a word of SQL are left out. Only cuts: whether it is valid is the database's to say.
 */
export const splitStatements = (text: string): SqlPiece[] => {
  const pieces: SqlPiece[] = []
  let start = 0
  let words: string[] = []
  // BEGIN and CASE inside a trigger, each closed by an END.
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

/** The text with one statement more at its end. */
export const withStatement = (text: string, sql: string): string => {
  const before = text.trimEnd()
  if (before === '') return sql
  // A comment in the last line would swallow the semicolon.
  const end = before.endsWith(';') ? '' : /--[^\n]*$/.test(before) ? '\n;' : ';'
  return `${before}${end}\n\n${sql}`
}

// Comments, quoted text (an unclosed one reaches the end), words, and any other sign.
const tokens =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$)|\[[^\]]*(?:\]|$)|[\p{L}_][\p{L}\p{N}_$]*|[^\s]/gu

const isTrigger = (words: readonly string[]) => words[0] === 'CREATE' && words.slice(1, 3).includes('TRIGGER')

/** Parameters as people type them: a JSON array, or nothing for none. */
export const readParams = (text: string): { ok: true; params: unknown[] } | { ok: false; message: string } => {
  if (text.trim() === '') return { ok: true, params: [] }
  try {
    const params: unknown = JSON.parse(text)
    return Array.isArray(params)
      ? { ok: true, params }
      : { ok: false, message: 'Parameters are a JSON array: ["a", 1]' }
  } catch {
    return { ok: false, message: 'This is not JSON. Parameters are a JSON array: ["a", 1]' }
  }
}
