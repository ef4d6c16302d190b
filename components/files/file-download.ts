import { browserApi } from '#lib/browser/api/browser-api.ts'
import { formatBytes } from '#lib/browser/format.ts'
import { saveFile } from '#lib/browser/lists/export.ts'
import { files } from '#lib/contract/files.ts'
import { shellQuote } from '#lib/protocol/shell-words.ts'
import { runInDevbox } from './file-commands.ts'
import { baseName, parentPath } from './file-path.ts'

/** A page holds a download in memory until it is saved. */
const maxDownloadBytes = 1024 ** 3

export const downloadFile = async (devboxId: string, path: string, name = path): Promise<void> => {
  const controller = new AbortController()
  const response = await browserApi({ files }).files.download({
    params: { id: devboxId },
    body: { path },
    signal: controller.signal,
  })
  const sizeBytes = Number(response.headers.get('content-length') ?? 0)
  if (sizeBytes > maxDownloadBytes) {
    controller.abort()
    throw new Error(
      `The file is ${formatBytes(sizeBytes)}, over the browser limit of ${formatBytes(maxDownloadBytes)}. Use the API instead.`,
    )
  }
  saveFile(await response.blob(), downloadName(name))
}

/** The last part of a path, without characters that some systems forbid or that disguise the file type. */
export const downloadName = (path: string): string =>
  path
    .replace(/\/+$/, '')
    .replace(/^.*\//s, '')
    .replace(/[\p{Cc}\p{Cf}\\:*?"<>|]/gu, '_')
    .slice(0, 200) || 'file'

export const downloadArchive = (devboxId: string, paths: readonly string[]): Promise<void> => {
  const [first = '/'] = paths
  const names = paths.map((path) => shellQuote(`./${baseName(path)}`)).join(' ')
  const name = paths.length === 1 ? baseName(first) || 'root' : baseName(parentPath(first)) || 'files'
  return saveArchive(devboxId, shellQuote(parentPath(first)), names, name)
}

export const downloadHome = (devboxId: string): Promise<void> => saveArchive(devboxId, '"$HOME"', '.', 'home')

const saveArchive = async (devboxId: string, folder: string, names: string, name: string): Promise<void> => {
  // tar exits with 1 if a file changed while it was read; the archive is still complete.
  const pack =
    `d=$(mktemp -d) || exit; tar -C ${folder} -czf "$d/archive.tar.gz" -- ${names}; s=$?; ` +
    `[ $s -le 1 ] || { rm -rf -- "$d"; exit $s; }; echo "$d"`
  const tempFolder = (await runInDevbox(devboxId, pack)).trim()
  try {
    await downloadFile(devboxId, `${tempFolder}/archive.tar.gz`, `${name}.tar.gz`)
  } finally {
    await runInDevbox(devboxId, `rm -rf -- ${shellQuote(tempFolder)}`).catch(() => undefined)
  }
}
