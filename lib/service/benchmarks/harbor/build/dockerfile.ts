export interface Instruction {
  name: string
  text: string
  flags: Record<string, string>
  heredocs: Heredoc[]
  line: number
}

interface Heredoc {
  name: string
  content: string
}

export class SandboxBuildFailedError extends Error {
  override readonly name = 'SandboxBuildFailedError'
  /** True if Docker with a network might build it: this machine differs, the task is not wrong. */
  readonly differs: boolean

  constructor(message: string, { differs = false } = {}) {
    super(message)
    this.differs = differs
  }
}

/** Throws a SandboxBuildFailedError for a line that is not an instruction. */
export const parseDockerfile = (source: string): Instruction[] => {
  const lines = source.replace(/^\uFEFF/, '').split(/\r?\n/)
  const continuation = /^#\s*escape\s*=\s*`/i.test(lines[0] ?? '') ? '`' : '\\'
  const instructions: Instruction[] = []
  for (let i = 0; i < lines.length; ) {
    const first = i
    let text = lines[i++] ?? ''
    if (/^\s*(#|$)/.test(text)) continue
    // Empty lines and comments do not end a continued instruction.
    while (text.trimEnd().endsWith(continuation) && i < lines.length) {
      text = text.trimEnd().slice(0, -1)
      while (i < lines.length && /^\s*(#|$)/.test(lines[i] ?? '')) i++
      text += lines[i++] ?? ''
    }
    const [, name = '', rest = ''] = /^\s*([A-Za-z]+)(?:\s+([\s\S]*))?$/.exec(text) ?? []
    if (name === '')
      throw new SandboxBuildFailedError(`Dockerfile line ${first + 1} is not an instruction: ${text.trim()}`)
    const instruction = { name: name.toUpperCase(), ...takeFlags(rest.trim()), heredocs: [], line: first + 1 }
    if (['RUN', 'COPY', 'ADD'].includes(instruction.name)) i = takeHeredocs(instruction, lines, i)
    instructions.push(instruction)
  }
  return instructions
}

const takeFlags = (text: string): Pick<Instruction, 'flags' | 'text'> => {
  const flags: Record<string, string> = {}
  let rest = text
  for (;;) {
    const [whole, name, value] = /^--([a-z][a-z-]*)(?:=(\S*))?(?:\s+|$)/.exec(rest) ?? []
    if (whole === undefined || name === undefined) return { flags, text: rest }
    flags[name] = flags[name] === undefined ? (value ?? 'true') : `${flags[name]} ${value}`
    rest = rest.slice(whole.length)
  }
}

const takeHeredocs = (instruction: Instruction, lines: readonly string[], from: number): number => {
  let i = from
  // The name may be separated from the `<<` by a space.
  instruction.text = instruction.text.replace(
    /(?<=^|\s)(\d*<<-?)[ \t]+((["']?)[A-Za-z_][\w.-]*\3)(?=\s|$)/g,
    (found, mark, name) =>
      lines.slice(from).some((line) => line.trim() === name.replace(/["']/g, '')) ? mark + name : found,
  )
  for (const [word] of instruction.text.matchAll(/(?:[^\s"'\\]|\\.|"(?:\\.|[^"\\])*"|'[^']*')+/gs)) {
    const [, dash = '', quoted = ''] = heredocWord.exec(word) ?? []
    const name = quoted.replace(/["']/g, '')
    if (name === '') continue
    const body: string[] = []
    const strip = (line: string) => (dash ? line.replace(/^\t+/, '') : line)
    while (i < lines.length && strip(lines[i] ?? '') !== name) body.push(strip(lines[i++] ?? ''))
    if (i >= lines.length)
      throw new SandboxBuildFailedError(`Dockerfile line ${instruction.line}: heredoc ${name} is not terminated`)
    i++
    instruction.heredocs.push({ name, content: body.map((line) => `${line}\n`).join('') })
  }
  return i
}

/** Docker looks for heredocs in whole words only: inside quotes or arithmetic, `<<` belongs to the shell. */
export const heredocWord = /^\d*<<(-?)([^<]+)$/

type Variables = ReadonlyMap<string, string>

export const wordsOf = (text: string, variables: Variables): string[] => takeWords(text, variables, /\s/)

export const wordOf = (text: string, variables: Variables): string => takeWords(text, variables)[0] ?? ''

const takeWords = (text: string, variables: Variables, separator?: RegExp): string[] => {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  for (let i = 0; i < text.length; i++) {
    const character = text[i] ?? ''
    if (quote === "'") {
      if (character === "'") quote = ''
      else word += character
    } else if (character === '\\' && i + 1 < text.length && (quote === '' || '"\\$'.includes(text[i + 1] ?? ''))) {
      word = (word ?? '') + text[++i]
    } else if (character === '"' || (character === "'" && quote === '')) {
      quote = quote === character ? '' : character
      word ??= ''
    } else if (character === '$') {
      const { value, length } = variableAt(text.slice(i), variables)
      if (value !== '') word = (word ?? '') + value
      i += length - 1
    } else if (quote === '' && separator?.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + character
  }
  return word === undefined ? words : [...words, word]
}

const variableAt = (text: string, variables: Variables): { value: string; length: number } => {
  const [plain, plainName = ''] = /^\$([A-Za-z_]\w*)/.exec(text) ?? []
  if (plain !== undefined) return { value: variables.get(plainName) ?? '', length: plain.length }
  const [, name = '', operator = '', rest = ''] = /^\$\{([A-Za-z_]\w*)(:?[-+]|(?=\}))(.*)$/s.exec(text) ?? []
  const end = name === '' ? -1 : endOfBraces(rest)
  if (end === -1) {
    if (!text.startsWith('${')) return { value: '$', length: 1 }
    throw new SandboxBuildFailedError(`The Dockerfile uses a variable in an unsupported way: ${text.slice(0, 40)}`, {
      differs: true,
    })
  }
  const value = variables.get(name) ?? ''
  const isSet = operator.startsWith(':') ? value !== '' : variables.has(name)
  const fallback = () => wordOf(rest.slice(0, end), variables)
  const length = text.length - rest.length + end + 1
  if (operator.endsWith('+')) return { value: isSet ? fallback() : '', length }
  return { value: isSet || operator === '' ? value : fallback(), length }
}

const endOfBraces = (text: string): number => {
  let open = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text.startsWith('${', i)) open++
    else if (text[i] === '}' && open-- === 0) return i
  }
  return -1
}

/** The strings of a JSON array (the exec form), or undefined. Docker treats invalid JSON as a shell command, too. */
export const execForm = (text: string): string[] | undefined => {
  if (!text.startsWith('[')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined
  } catch {
    return undefined
  }
}
