import { browserApi } from '#lib/browser/api/browser-api.ts'
import { isMissing } from '#lib/browser/api/failures.ts'
import { isBinary, textDecoder } from '#lib/browser/text/decode.ts'
import { files } from '#lib/contract/files.ts'

const pageApi = browserApi({ files })
type Api = typeof pageApi

/** Longer text can't be edited, and only its start is shown. */
const maxTextBytes = 2 * 1024 ** 2
const maxStartBytes = 512 * 1024
const maxImageBytes = 16 * 1024 ** 2

export interface FileStart {
  bytes: Uint8Array<ArrayBuffer>
  /** Size of the whole file; null if it is longer and the service sent no length. */
  sizeBytes: number | null
}

export const readStart = async (
  devboxId: string,
  path: string,
  maxBytes: number,
  { api = pageApi, signal }: { api?: Api; signal?: AbortSignal } = {},
): Promise<FileStart> => {
  const rest = new AbortController()
  const stopped = signal ? AbortSignal.any([signal, rest.signal]) : rest.signal
  const response = await api.files.download({ params: { id: devboxId }, body: { path }, signal: stopped })
  const contentLength = response.headers.get('content-length')
  const reader = response.body?.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  let isWhole = false
  // Reads one byte past the limit to learn whether there is more.
  while (reader && length <= maxBytes) {
    const { done, value } = await reader.read()
    isWhole = done
    if (done) break
    chunks.push(value)
    length += value.length
  }
  rest.abort()
  const bytes = new Uint8Array(Math.min(length, maxBytes))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk.subarray(0, bytes.length - at), at)
    at = Math.min(bytes.length, at + chunk.length)
  }
  return { bytes, sizeBytes: isWhole ? length : contentLength === null ? null : Number(contentLength) }
}

export type FileContent =
  /** `isExact`: encoding the text as UTF-8 gives back the file. */
  | { kind: 'text'; text: string; isWhole: boolean; isExact: boolean; shownBytes: number; sizeBytes: number | null }
  /** `url` is a data URL, which can't run scripts in an `img`. */
  | { kind: 'image'; url: string; sizeBytes: number }
  | { kind: 'folder' }
  | { kind: 'other'; why: string; sizeBytes: number | null }

/** Detects the type by content, not by name. */
export const readContent = async (
  devboxId: string,
  path: string,
  options: { api?: Api; signal?: AbortSignal } = {},
): Promise<FileContent> => {
  const start = await readStart(devboxId, path, maxTextBytes, options)
  const { bytes, sizeBytes } = start
  const type = imageType(bytes)
  if (type) {
    const isLarge = sizeBytes !== null && sizeBytes > maxImageBytes
    const whole =
      isLarge || sizeBytes === bytes.length ? start : await readStart(devboxId, path, maxImageBytes, options)
    if (whole.sizeBytes !== whole.bytes.length)
      return { kind: 'other', why: 'This image is too large to show', sizeBytes: whole.sizeBytes }
    return { kind: 'image', url: dataUrl(type, whole.bytes), sizeBytes: whole.bytes.length }
  }
  const isWhole = sizeBytes === bytes.length
  const shown = isWhole ? bytes : bytes.subarray(0, maxStartBytes)
  const text = decodeFile(shown, isWhole)
  return text === null
    ? { kind: 'other', why: 'This file is neither text nor an image', sizeBytes }
    : { kind: 'text', ...text, isWhole, shownBytes: shown.length, sizeBytes }
}

/** Null for a binary file. Drops a truncated last character. */
export const decodeFile = (bytes: Uint8Array, isWhole: boolean): { text: string; isExact: boolean } | null => {
  if (isBinary(bytes)) return null
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: !isWhole })
    return { text, isExact: !text.includes('\0') }
  } catch {
    return { text: textDecoder()(bytes, isWhole), isExact: false }
  }
}

/** Excludes SVG, which can run scripts and is shown as text. */
export const imageType = (bytes: Uint8Array): string | null => {
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

export const lineEnding = (text: string): '\n' | '\r\n' | 'mixed' => {
  const all = text.match(/\r\n|\r|\n/g) ?? []
  if (all.every((end) => end === '\n')) return '\n'
  return all.every((end) => end === '\r\n') ? '\r\n' : 'mixed'
}

/** Why the text can't be edited without changing other bytes of the file, or null. */
export const editRefusal = (content: Extract<FileContent, { kind: 'text' }>): string | null => {
  if (!content.isWhole) return 'the file is too large to edit here'
  if (!content.isExact) return 'the file is not UTF-8; saving would change other bytes'
  return lineEnding(content.text) === 'mixed' ? 'the file has mixed line endings, which saving would change' : null
}

/** `theirs` is the current text of the file, or null if it was deleted or is no longer text. */
export type SaveResult = { isSaved: true } | { isSaved: false; theirs: string | null }

/** Saves only if the file still contains `base`. Unspecified: a change between the two calls is overwritten. */
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
