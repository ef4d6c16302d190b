export type DownloadState =
  | { phase: 'idle' }
  | { phase: 'loading'; receivedBytes: number }
  | { phase: 'done'; receivedBytes: number }
  | { phase: 'failed'; receivedBytes: number; reason: string }

const zipStart = [0x50, 0x4b]
/** A zip ends with this record and up to 64 KiB of comment. */
const endRecord = [0x50, 0x4b, 0x05, 0x06]
const maxTailBytes = 22 + 65_535
const progressIntervalMs = 100

/** Reads a zip from a response, reporting progress. Rejects if the download is incomplete or not a zip. */
export const readZip = async (response: Response, onProgress: (receivedBytes: number) => void): Promise<Blob> => {
  const type = response.headers.get('content-type') ?? ''
  if (!/^application\/(zip|octet-stream|x-zip-compressed)\b/i.test(type)) {
    await response.body?.cancel()
    throw new Error(`Expected a zip file but received ${type || 'an unknown type'}. Nothing was saved.`)
  }
  const parts: Uint8Array<ArrayBuffer>[] = []
  let received = 0
  let reportedAt = 0
  try {
    const reader = response.body?.getReader()
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      parts.push(next.value as Uint8Array<ArrayBuffer>)
      received += next.value.length
      if (Date.now() - reportedAt < progressIntervalMs) continue
      reportedAt = Date.now()
      onProgress(received)
    }
  } catch (cause) {
    if (cause instanceof Error && cause.name === 'AbortError') throw cause
    throw new Error('The download was interrupted. Nothing was saved.', { cause })
  }
  onProgress(received)
  const zip = new Blob(parts, { type: 'application/zip' })
  if (!(await startsAsZip(zip))) throw new Error('The download is not a zip file. Nothing was saved.')
  if (!(await endsAsZip(zip))) throw new Error('The zip file is incomplete. Nothing was saved.')
  return zip
}

const startsAsZip = async (zip: Blob) => {
  const head = new Uint8Array(await zip.slice(0, 2).arrayBuffer())
  return zipStart.every((byte, i) => head[i] === byte)
}

const endsAsZip = async (zip: Blob) => {
  const tail = new Uint8Array(await zip.slice(Math.max(0, zip.size - maxTailBytes)).arrayBuffer())
  for (let at = tail.length - 22; at >= 0; at--) if (endRecord.every((byte, i) => tail[at + i] === byte)) return true
  return false
}

/** Replaces characters that some file systems reject. */
export const fileNameOf = (name: string, id: string): string => {
  const clean = name
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 80)
  return `${clean ? `${clean}-` : ''}${id}-logs.zip`
}
