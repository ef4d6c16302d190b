import { quote } from '#lib/service/kit/quoting.ts'
import { execForm, heredocWord, type Instruction, parseDockerfile } from '../build/dockerfile.ts'

export interface PortableDockerfile {
  text: string
  /** Files that it copies, by their path in the build context. */
  files: Record<string, string>
}

/**
 * Rewrites what older builders lack: heredocs, and a `# syntax` image that may not be available. Undefined if the
 * Dockerfile has neither. Throws a SandboxBuildFailedError if it can't be parsed.
 */
export const portableDockerfile = (source: string): PortableDockerfile | undefined => {
  const files: Record<string, string> = {}
  const lines = source.split(/\r?\n/)
  const instructions = parseDockerfile(source)
  if (!syntaxLine.test(lines[0] ?? '') && !instructions.some(({ heredocs }) => heredocs.length > 0)) return undefined
  const before = lines.slice(0, (instructions[0]?.line ?? 1) - 1).filter((line) => !syntaxLine.test(line))
  let shell = ['/bin/sh', '-c']
  const rewritten = instructions.map((instruction, i) => {
    const { name, text, heredocs, line } = instruction
    if (name === 'FROM') shell = ['/bin/sh', '-c']
    if (name === 'SHELL') shell = execForm(text) ?? shell
    if (heredocs.length === 0) return lines.slice(line - 1, (instructions[i + 1]?.line ?? Number.NaN) - 1 || undefined)
    return [name === 'RUN' ? runOf(instruction, shell) : copyOf(instruction, files)]
  })
  return { text: `${[before, ...rewritten].flat().join('\n')}\n`, files }
}

const syntaxLine = /^#\s*syntax\s*=/i

const runOf = ({ text, heredocs, flags }: Instruction, shell: readonly string[]): string => {
  const isScript = !/\s/.test(text) && heredocWord.test(text)
  const script = isScript
    ? heredocs.map(({ content }) => content).join('')
    : [text, ...heredocs.map(({ name, content }) => content + name)].join('\n')
  const interpreter = isScript ? /^#!(.+)/.exec(script)?.[1]?.trim() : undefined
  const command = interpreter ? `f=$(mktemp) && printf %s ${quote(script)} >"$f" && ${interpreter} "$f"` : script
  return ['RUN', ...flagsOf(flags), JSON.stringify([...shell, command])].join(' ')
}

/** Unspecified: variables in a copied heredoc. They are not replaced. */
const copyOf = ({ name, text, heredocs, flags }: Instruction, files: Record<string, string>): string => {
  const left = [...heredocs]
  const words = text.split(/\s+/).map((word) => {
    const heredoc = heredocWord.test(word) ? left.shift() : undefined
    if (!heredoc) return word
    const path = `${heredocFolder}/${Object.keys(files).length}/${heredoc.name}`
    files[path] = heredoc.content
    return path
  })
  return [name, ...flagsOf(flags), ...words].join(' ')
}

const heredocFolder = '.devdeck-heredocs'

const flagsOf = (flags: Record<string, string>): string[] =>
  Object.entries(flags).flatMap(([name, values]) => values.split(' ').map((value) => `--${name}=${value}`))
