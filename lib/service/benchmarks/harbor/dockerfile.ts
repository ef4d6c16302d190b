/** One instruction of a Dockerfile, with its continuation lines put together. */
export interface Instruction {
  /** In capitals. */
  name: string
  /** What follows the name and its flags. */
  text: string
  flags: Record<string, string>
  /** Of a `RUN <<EOF` or `COPY <<EOF`, in order. */
  heredocs: Heredoc[]
  line: number
}

export interface Heredoc {
  name: string
  content: string
  /** Variables in it stay as they are. */
  quoted: boolean
}

/** The environment of a task cannot be built; the message names the line. */
export class SandboxBuildFailedError extends Error {
  override readonly name = 'SandboxBuildFailedError'
  /** Whether Docker, with a network, may well build it: then it is this machine that differs, not the task that is wrong. */
  readonly differs: boolean

  constructor(message: string, { differs = false } = {}) {
    super(message)
    this.differs = differs
  }
}

/** The instructions of a Dockerfile, in order. Throws a SandboxBuildFailedError for what is none. */
export const parseDockerfile = (source: string): Instruction[] => {
  const lines = source.replace(/^\uFEFF/, '').split(/\r?\n/)
  const continuation = /^#\s*escape\s*=\s*`/i.test(lines[0] ?? '') ? '`' : '\\'
  const instructions: Instruction[] = []
  for (let i = 0; i < lines.length; ) {
    const first = i
    const begin = lines[i++] ?? ''
    if (/^\s*(#|$)/.test(begin)) continue
    let text = begin
    // Empty lines and comments do not end a continued instruction.
    while (text.trimEnd().endsWith(continuation) && i < lines.length) {
      text = text.trimEnd().slice(0, -1)
      while (i < lines.length && /^\s*(#|$)/.test(lines[i] ?? '')) i++
      text += lines[i++] ?? ''
    }
    const [, name = '', rest = ''] = /^\s*([A-Za-z]+)(?:\s+([\s\S]*))?$/.exec(text) ?? []
    if (name === '') throw new SandboxBuildFailedError(`Dockerfile line ${first + 1} is no instruction: ${text.trim()}`)
    const { flags, text: after } = takeFlags(rest.trim())
    const instruction: Instruction = { name: name.toUpperCase(), text: after, flags, heredocs: [], line: first + 1 }
    if (['RUN', 'COPY', 'ADD'].includes(instruction.name)) i = takeHeredocs(instruction, lines, i)
    instructions.push(instruction)
  }
  return instructions
}

const takeFlags = (text: string): { flags: Record<string, string>; text: string } => {
  const flags: Record<string, string> = {}
  let rest = text
  for (;;) {
    const [whole, name, value] = /^--([a-z][a-z-]*)(?:=(\S*))?(?:\s+|$)/.exec(rest) ?? []
    if (whole === undefined || name === undefined) return { flags, text: rest }
    flags[name] = value ?? 'true'
    rest = rest.slice(whole.length)
  }
}

/** Returns the line after the last heredoc. */
const takeHeredocs = (instruction: Instruction, lines: readonly string[], from: number): number => {
  let i = from
  // Not `<<<`, which is a word, nor `<<` in arithmetic.
  for (const [, dash, quote = '', name = ''] of instruction.text.matchAll(
    /(?<!<)<<(-?)(["']?)([A-Za-z_]\w*)\2(?!\w)/g,
  )) {
    const body: string[] = []
    const strip = (line: string) => (dash ? line.replace(/^\t+/, '') : line)
    while (i < lines.length && strip(lines[i] ?? '') !== name) body.push(strip(lines[i++] ?? ''))
    if (i >= lines.length)
      throw new SandboxBuildFailedError(`Dockerfile line ${instruction.line}: the text up to ${name} does not end`)
    i++
    instruction.heredocs.push({ name, content: body.map((line) => `${line}\n`).join(''), quoted: quote !== '' })
  }
  return i
}

/** Words as Docker takes them apart: at spaces, quotes and backslashes understood, variables put in. */
export const wordsOf = (text: string, variables: ReadonlyMap<string, string>): string[] => {
  const words: string[] = []
  let word = ''
  let isWord = false
  let quote = ''
  for (let i = 0; i < text.length; i++) {
    const character = text[i] ?? ''
    if (quote === "'") {
      if (character === "'") quote = ''
      else word += character
    } else if (character === '\\' && i + 1 < text.length && (quote === '' || '"\\$'.includes(text[i + 1] ?? ''))) {
      word += text[++i]
      isWord = true
    } else if (character === '"' || (character === "'" && quote === '')) {
      quote = quote === character ? '' : character
      isWord = true
    } else if (character === '$') {
      const { value, length } = variableAt(text.slice(i), variables)
      word += value
      if (value !== '') isWord = true
      i += length - 1
    } else if (quote === '' && /\s/.test(character)) {
      if (isWord) words.push(word)
      word = ''
      isWord = false
    } else {
      word += character
      isWord = true
    }
  }
  if (isWord) words.push(word)
  return words
}

const variableAt = (text: string, variables: ReadonlyMap<string, string>): { value: string; length: number } => {
  const [whole, name = '', operator, word = ''] =
    /^\$\{([A-Za-z_]\w*)(?:(:[-+])([^}]*))?\}/.exec(text) ?? /^\$([A-Za-z_]\w*)/.exec(text) ?? []
  if (whole === undefined) return { value: '$', length: 1 }
  const value = variables.get(name) ?? ''
  const length = whole.length
  if (operator === ':-') return { value: value || wordsOf(word, variables).join(' '), length }
  if (operator === ':+') return { value: value && wordsOf(word, variables).join(' '), length }
  return { value, length }
}

/** The texts of a JSON array, which the exec form of an instruction is; undefined for anything else. */
export const execForm = (text: string): string[] | undefined => {
  if (!text.startsWith('[')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined
  } catch {
    // Like Docker, takes text that is not JSON for a shell command that begins with a bracket.
    return undefined
  }
}
