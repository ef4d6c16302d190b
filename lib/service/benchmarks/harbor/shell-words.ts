/** A script without the commands of it that this service does not run, and those, each as it was written. */
export interface Skipped {
  script: string
  skipped: string[]
}

/**
 * Puts `:` in the place of commands that install packages or make users, wherever in a chain they stand. The packages
 * cannot be fetched, and a devbox has one user; what the rest of the script makes of it is what a task is judged by.
 */
export const withoutInstalls = (script: string): Skipped => {
  let result = ''
  const skipped: string[] = []
  for (const part of partsOf(script)) {
    const [, before = '', command = '', after = ''] = /^([\s\S]*?)(\S[\s\S]*?)?(\s*)$/.exec(part.text) ?? []
    const { words, prefix } = withoutPrefix(command)
    const inner = part.isCommand ? innerScript(command.slice(prefix.length)) : undefined
    if (part.isCommand && isSkipped(words)) {
      skipped.push(command.slice(prefix.length).replace(/\s+/g, ' '))
      result += `${before}${/^\w+=/.test(prefix) ? '' : keywordsOf(prefix)}:${after}`
    } else if (inner) {
      const left = withoutInstalls(inner.script)
      skipped.push(...left.skipped)
      result += `${before}${prefix}${inner.before}${left.script}${inner.after}${after}`
    } else result += part.text
  }
  return { script: result, skipped }
}

/** The script of a `bash -c "…"`, and what stands around it. What is quoted in it is still as it was written. */
const innerScript = (command: string): { before: string; script: string; after: string } | undefined => {
  const call =
    /^(?:(["'])(?:\/\S*\/)?(?:ba|da)?sh\1|(?:\/\S*\/)?(?:ba|da)?sh)(?:\s+(?:'-\w+'|-\w+|'?pipefail'?))*\s+(?:'-\w*c'|-\w*c)\s+/
  const before = call.exec(command)?.[0]
  const quoted = before && /^('[^']*'|"(?:\\[\s\S]|[^"\\])*")/.exec(command.slice(before.length))?.[0]
  if (!before || !quoted) return undefined
  const quote = quoted[0] ?? ''
  return {
    before: before + quote,
    script: quoted.slice(1, -1),
    after: quote + command.slice(before.length + quoted.length),
  }
}

/** A script whose `mkdir /app` succeeds as it does in an image: a devbox has the folders at `/` from its start. */
export const withFoldersThere = (script: string): string =>
  partsOf(script)
    .map(({ text, isCommand }) => {
      const makes =
        isCommand &&
        /^(\s*(?:(?:do|then|else|if|!|sudo|\{)\s+)*mkdir)(?=\s(?:[\s\S]*\s)?\/[\w.-]+\/?(?:\s|$))/.exec(text)
      return makes ? `${makes[1]} -p${text.slice(makes[0].length)}` : text
    })
    .join('')

interface Part {
  text: string
  /** Else it is what separates commands, or text that is no command at all. */
  isCommand: boolean
}

/** The simple commands of a script and what stands between them; quotes, substitutions and heredocs kept whole. */
const partsOf = (script: string): Part[] => {
  const parts: Part[] = []
  let text = ''
  const end = (separator: string) => {
    if (text) parts.push({ text, isCommand: true })
    if (separator) parts.push({ text: separator, isCommand: false })
    text = ''
  }
  const heredocs: { name: string; dash: boolean }[] = []
  for (let i = 0; i < script.length; ) {
    const rest = script.slice(i)
    const whole =
      /^\\[\s\S]/.exec(rest)?.[0] ??
      /^'[^']*'?/.exec(rest)?.[0] ??
      /^"(?:\\[\s\S]|[^"\\])*"?/.exec(rest)?.[0] ??
      (rest.startsWith('$(') || rest.startsWith('`') ? substitution(rest) : undefined)
    const [heredoc, dash, , name] = /^<<(-?)\s*(["']?)([A-Za-z_]\w*)\2/.exec(rest) ?? []
    if (whole) {
      text += whole
      i += whole.length
    } else if (heredoc && name && script[i - 1] !== '<') {
      heredocs.push({ name, dash: dash === '-' })
      text += heredoc
      i += heredoc.length
    } else if (rest[0] === '#' && /(^|\s)$/.test(text)) {
      const comment = /^[^\n]*/.exec(rest)?.[0] ?? ''
      end(comment)
      i += comment.length
    } else {
      // `>&`, `&>` and `>|` are parts of redirections.
      const separator =
        /[<>]$/.test(text) || rest.startsWith('&>')
          ? undefined
          : /^(&&|\|\|?|;;?|&|\n|[(){}](?=\s|$|;)|\()/.exec(rest)?.[0]
      if (separator === undefined) {
        text += rest[0]
        i++
        continue
      }
      end(separator)
      i += separator.length
      if (separator === '\n')
        for (const { name: word, dash: isDashed } of heredocs.splice(0)) {
          const body = heredocBody(script.slice(i), word, isDashed)
          parts.push({ text: body, isCommand: false })
          i += body.length
        }
    }
  }
  end('')
  return parts
}

/** `$(…)` or `` `…` `` at the beginning of a text, up to its end. */
const substitution = (text: string): string => {
  if (text[0] === '`') return /^`(?:\\[\s\S]|[^`\\])*`?/.exec(text)?.[0] ?? text
  let depth = 0
  for (let i = 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '(') depth++
    else if (text[i] === ')' && --depth === 0) return text.slice(0, i + 1)
  }
  return text
}

const heredocBody = (text: string, word: string, isDashed: boolean): string => {
  let length = 0
  for (const line of text.split('\n')) {
    length += line.length + 1
    if ((isDashed ? line.replace(/^\t+/, '') : line) === word) break
  }
  return text.slice(0, length)
}

const keywords = /^((?:do|then|else|if|while|until|!|time|\{)\s+)+/
const keywordsOf = (prefix: string) => keywords.exec(prefix)?.[0] ?? ''

/** The words of a command after what only sets the scene for it. */
const withoutPrefix = (command: string): { words: string[]; prefix: string } => {
  const scene =
    /^(?:(?:do|then|else|if|while|until|!|time|\{|sudo(?:\s+-\S+)*|env|command|exec|nohup|yes)\s+|[A-Za-z_]\w*=(?:"[^"]*"|'[^']*'|\S*)\s+)*/
  const prefix = scene.exec(command)?.[0] ?? ''
  return { prefix, words: command.slice(prefix.length).trim().split(/\s+/) }
}

const always = [
  ...[
    'apt',
    'apt-get',
    'apt-key',
    'apt-mark',
    'aptitude',
    'add-apt-repository',
    'apk',
    'yum',
    'dnf',
    'microdnf',
    'zypper',
  ],
  ...['pacman', 'brew', 'dpkg', 'rpm', 'locale-gen', 'update-ca-certificates', 'corepack'],
  ...['useradd', 'adduser', 'groupadd', 'addgroup', 'usermod', 'chown', 'chgrp', 'chpasswd', 'passwd'],
]
const installing: Record<string, RegExp> = {
  pip: /^(install|uninstall|download)$/,
  npm: /^(install|i|ci|add|update)$/,
  pnpm: /^(install|i|add)$/,
  yarn: /^(install|add|global)$/,
  bun: /^(install|add)$/,
  gem: /^install$/,
  bundle: /^install$/,
  cargo: /^(install|fetch)$/,
  go: /^(install|get|mod)$/,
  conda: /^(install|create|update|env)$/,
  mamba: /^(install|create|update|env)$/,
  micromamba: /^(install|create)$/,
  uv: /^(pip|sync|tool|add|python|venv)$/,
  pipx: /^install$/,
  poetry: /^(install|add)$/,
}

const isSkipped = (words: readonly string[]): boolean => {
  const [first = '', ...rest] = words
  const name = first.replace(/^.*\//, '')
  if (always.includes(name)) return true
  if (/^python[\d.]*$/.test(name) && rest[0] === '-m') return isSkipped(rest.slice(1))
  if (name === 'yarn' && rest.length === 0) return true
  const command = rest.find((word) => !word.startsWith('-')) ?? ''
  return installing[name.replace(/^pip[\d.]+$/, 'pip')]?.test(command) ?? false
}
