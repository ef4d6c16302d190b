import { parse as parseToml, TomlError } from 'smol-toml'
import type * as z from 'zod/mini'

interface TomlProblem {
  line?: number
  column?: number
  message: string
}

export const readTomlText = <T>(
  text: string,
  schema: z.ZodMiniType<T>,
): { data: T; problems?: undefined } | { data?: undefined; problems: TomlProblem[] } => {
  let value: unknown
  try {
    value = parseToml(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    // The other lines of the message quote the file.
    const [message = ''] = error.message.replace(/^Invalid TOML document: /, '').split('\n')
    return { problems: [{ line: error.line, column: error.column, message: `is not valid TOML: ${message}` }] }
  }
  const read = schema.safeParse(value)
  if (read.success) return { data: read.data }
  const problems = read.error.issues.map((issue) => {
    const { path, message } = issue
    // Points to the unknown key, not to its table.
    const line = lineOf(text, issue.code === 'unrecognized_keys' ? [...path, ...issue.keys.slice(0, 1)] : path)
    return { ...(line && { line, column: 1 }), message: `${path.join('.')} ${message}`.trim() }
  })
  return { problems }
}

const lineOf = (text: string, keys: readonly PropertyKey[]): number | undefined => {
  const names = keys.filter((key) => typeof key === 'string')
  const lines = text.split('\n')
  for (let depth = names.length; depth >= 0; depth--) {
    const table = names.slice(0, depth).join('.')
    const from = depth === 0 ? 0 : lines.findIndex((line) => line.replace(/[\s[\]"']/g, '').split('#')[0] === table)
    if (from === -1 || (depth > 0 && !lines[from]?.trim().startsWith('['))) continue
    const key = names[depth]
    if (key === undefined) return from + 1
    const end = lines.findIndex((line, i) => i > from && line.trim().startsWith('['))
    const found = lines
      .slice(from, end === -1 ? undefined : end)
      .findIndex((line) => line.split(/[=.]/)[0]?.replace(/[\s"']/g, '') === key)
    return found !== -1 ? from + found + 1 : depth > 0 ? from + 1 : undefined
  }
  return undefined
}
