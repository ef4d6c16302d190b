import { browserApi } from '#lib/browser/api/browser-api.ts'
import { formatBytes } from '#lib/browser/format.ts'
import { saveFile } from '#lib/browser/lists/export.ts'
import { files } from '#lib/contract/files.ts'

/** A page holds what it downloads in memory until it is saved. */
const maxDownloadBytes = 1024 ** 3

/** Has the browser save a file of a devbox. Rejects with a sentence for people. */
export const downloadFile = async (devboxId: string, path: string, name = path): Promise<void> => {
  const stop = new AbortController()
  const response = await browserApi({ files }).files.download({
    params: { id: devboxId },
    body: { path },
    signal: stop.signal,
  })
  const sizeBytes = Number(response.headers.get('content-length') ?? 0)
  if (sizeBytes > maxDownloadBytes) {
    stop.abort()
    throw new Error(
      `It has ${formatBytes(sizeBytes)}, more than a page can hold: take it by the API or the command line`,
    )
  }
  saveFile(await response.blob(), downloadName(name))
}

/** The last part of a path, without what is no name on some system or hides what kind of file it is. */
export const downloadName = (path: string): string =>
  path
    .replace(/\/+$/, '')
    .replace(/^.*\//s, '')
    .replace(/[\p{Cc}\p{Cf}\\:*?"<>|]/gu, '_')
    .slice(0, 200) || 'file'
