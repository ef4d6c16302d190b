import { readFile, stat } from 'node:fs/promises'
import * as z from 'zod/mini'

/** Longer ones are not read: a result says what came of a trial, not all that its agent has said. */
const maxBytes = 64 * 1024 * 1024

/** The document of a file, or why there is none in words that end a sentence. */
export const readJson = async (path: string): Promise<{ value: unknown } | { problem: string }> => {
  const text = await readText(path)
  if (text === undefined) return { problem: 'is missing' }
  if (text === null) return { problem: `has more than ${maxBytes} bytes` }
  try {
    return { value: parsed(text.replace(/^\uFEFF/, '')) }
  } catch (error) {
    return { problem: `is no JSON: ${(error as Error).message}` }
  }
}

/** Python writes numbers that are none as words, which are no JSON: they are null here. */
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

/** Undefined where there is no such file, null where it is too long. */
export const readText = async (path: string): Promise<string | null | undefined> => {
  try {
    if ((await stat(path)).size > maxBytes) return null
    return await readFile(path, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

/** A field that other versions write differently or not at all: then it is null, and nothing else is lost. */
export const optional = <S extends z.ZodMiniType>(schema: S) => z.catch(z._default(z.nullable(schema), null), null)
export const Words = optional(z.string())
export const Count = optional(z.int().check(z.minimum(0)))

/** Milliseconds since 1970. Unspecified: a time without a zone, as older versions write it. It is read as UTC. */
export const timeOf = (text: string | null): number | null => {
  if (text === null) return null
  const ms = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`)
  return Number.isFinite(ms) && ms > 0 ? ms : null
}
