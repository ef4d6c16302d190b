import { browserApi } from '#lib/browser/api/browser-api.ts'
import { isMissing } from '#lib/browser/api/failures.ts'
import { isBinary, textDecoder } from '#lib/browser/text/decode.ts'
import { files } from '#lib/contract/files.ts'

const pageApi = browserApi({ files })
type Api = typeof pageApi

/** Text is shown up to here, and edited when that is all of it. */
const maxTextBytes = 512 * 1024
const maxImageBytes = 16 * 1024 ** 2

export interface FileStart {
  bytes: Uint8Array<ArrayBuffer>
  /** Of the whole file; null when the service does not tell and there is more. */
  sizeBytes: number | null
}

/** The first bytes of a file; the rest is not sent. */
export const readStart = async (
  devboxId: string,
  path: string,
  maxBytes: number,
  { api = pageApi, signal }: { api?: Api; signal?: AbortSignal } = {},
): Promise<FileStart> => {
  const enough = new AbortController()
  const stopped = signal ? AbortSignal.any([signal, enough.signal]) : enough.signal
  const response = await api.files.download({ params: { id: devboxId }, body: { path }, signal: stopped })
  const told = response.headers.get('content-length')
  const reader = response.body?.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  let isWhole = false
  // One byte more tells whether there is more.
  while (reader && length <= maxBytes) {
    const { done, value } = await reader.read()
    isWhole = done
    if (done) break
    chunks.push(value)
    length += value.length
  }
  enough.abort()
  const bytes = new Uint8Array(Math.min(length, maxBytes))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk.subarray(0, bytes.length - at), at)
    at = Math.min(bytes.length, at + chunk.length)
  }
  return { bytes, sizeBytes: isWhole ? length : told === null ? null : Number(told) }
}

export type FileContent =
  /** `isWhole`: nothing follows. `isExact`: the text in UTF-8 is the file. */
  | { kind: 'text'; text: string; isWhole: boolean; isExact: boolean; shownBytes: number; sizeBytes: number | null }
  /** `url` is a data URL: an image can run nothing. */
  | { kind: 'image'; url: string; sizeBytes: number }
  | { kind: 'other'; why: string; sizeBytes: number | null }

/** What can be shown of a file: by what is in it, whatever its name says. */
export const readContent = async (
  devboxId: string,
  path: string,
  options: { api?: Api; signal?: AbortSignal } = {},
): Promise<FileContent> => {
  const start = await readStart(devboxId, path, maxTextBytes, options)
  const { bytes, sizeBytes } = start
  const type = imageTypeOf(bytes)
  if (type) {
    const isLarge = sizeBytes !== null && sizeBytes > maxImageBytes
    const whole =
      isLarge || sizeBytes === bytes.length ? start : await readStart(devboxId, path, maxImageBytes, options)
    if (whole.sizeBytes !== whole.bytes.length)
      return { kind: 'other', why: 'An image of this size is not shown', sizeBytes: whole.sizeBytes }
    return { kind: 'image', url: dataUrl(type, whole.bytes), sizeBytes: whole.bytes.length }
  }
  const isWhole = sizeBytes === bytes.length
  const text = textOf(bytes, isWhole)
  return text === null
    ? { kind: 'other', why: 'This file is not text or an image', sizeBytes }
    : { kind: 'text', ...text, isWhole, shownBytes: bytes.length, sizeBytes }
}

/** Null for a binary file. A character that is cut at the end is left out. */
export const textOf = (bytes: Uint8Array, isWhole: boolean): { text: string; isExact: boolean } | null => {
  if (isBinary(bytes)) return null
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: !isWhole })
    return { text, isExact: !text.includes('\0') }
  } catch {
    return { text: textDecoder()(bytes, isWhole), isExact: false }
  }
}

/** Images by their first bytes. SVG is not among them: it is a document that may run scripts, and is shown as its text. */
export const imageTypeOf = (bytes: Uint8Array): string | null => {
  const start = String.fromCharCode(...bytes.subarray(0, 16))
  return imageStarts.find(([pattern]) => pattern.test(start))?.[1] ?? null
}

const imageStarts: readonly [RegExp, string][] = [
  [/^\x89PNG\r\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF.{4}WEBP/s, 'image/webp'],
  [/^.{4}ftypavif/s, 'image/avif'],
  [/^BM.{4}\0\0\0\0/s, 'image/bmp'],
]

const dataUrl = (type: string, bytes: Uint8Array): string => {
  let text = ''
  for (let at = 0; at < bytes.length; at += 32_768) text += String.fromCharCode(...bytes.subarray(at, at + 32_768))
  return `data:${type};base64,${btoa(text)}`
}

/** The line ends of a text; a field for text has none but "\n". */
export const lineEndsOf = (text: string): '\n' | '\r\n' | 'mixed' => {
  const all = text.match(/\r\n|\r|\n/g) ?? []
  if (all.every((end) => end === '\n')) return '\n'
  return all.every((end) => end === '\r\n') ? '\r\n' : 'mixed'
}

/** Why a text cannot be edited here without changing more than was typed, or null when it can. */
export const editRefusal = (content: Extract<FileContent, { kind: 'text' }>): string | null => {
  if (!content.isWhole) return 'the file is too large to be edited here'
  if (!content.isExact) return 'it has bytes that are not UTF-8 text, which saving would change'
  return lineEndsOf(content.text) === 'mixed' ? 'its line ends are mixed, which editing would change' : null
}

/** What a save came to. `theirs` is what is in the file now, or null when it is gone or no text any more. */
export type SaveResult = { isSaved: true } | { isSaved: false; theirs: string | null }

/**
 * Writes a text over the one that was read, `base`. When the file has another content meanwhile nothing is written.
 * Unspecified: the service has no conditional write; a change in the moment between the two calls is written over.
 */
export const saveText = async (
  devboxId: string,
  path: string,
  { base, text }: { base: string | null; text: string },
  api: Api = pageApi,
): Promise<SaveResult> => {
  const theirs = await readText(devboxId, path, api)
  if (theirs !== base) return { isSaved: false, theirs }
  await api.files.write({ params: { id: devboxId }, body: { file_path: path, contents: text } })
  return { isSaved: true }
}

const readText = async (devboxId: string, path: string, api: Api): Promise<string | null> => {
  try {
    const content = await readContent(devboxId, path, { api })
    return content.kind === 'text' && content.isWhole && content.isExact ? content.text : null
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}
