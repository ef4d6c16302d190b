import { readFile, stat } from 'node:fs/promises'
import * as z from 'zod/mini'

const maxBytes = 64 * 1024 * 1024

/** A problem completes a sentence about the file. */
export const readJson = async (path: string): Promise<{ value: unknown } | { problem: string }> => {
  try {
    if ((await stat(path)).size > maxBytes) return { problem: `is larger than ${maxBytes} bytes` }
    return { value: parsed((await readFile(path, 'utf8')).replace(/^\uFEFF/, '')) }
  } catch (error) {
    if (error instanceof SyntaxError) return { problem: `is not valid JSON: ${error.message}` }
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return { problem: 'is missing' }
    throw error
  }
}

/** Reads NaN and Infinity, which Python writes, as null. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    const plain = text.replace(/"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g, (found) =>
      found.startsWith('"') ? found : 'null',
    )
    if (plain === text) throw error
    return JSON.parse(plain)
  }
}

/** Null if missing or in another format, as in other versions. */
export const optional = <S extends z.ZodMiniType>(schema: S) => z.catch(z._default(z.nullable(schema), null), null)
export const OptionalText = optional(z.string())
export const OptionalCount = optional(z.int().check(z.minimum(0)))

/** Unspecified: a time without a zone, as older versions write it. It is read as UTC. */
export const timeOf = (text: string | null): number | null => {
  if (text === null) return null
  const ms = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`)
  return Number.isFinite(ms) && ms > 0 ? ms : null
}
