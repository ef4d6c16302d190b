import { browserApi } from '#lib/browser/api/browser-api.ts'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { executions } from '#lib/contract/executions.ts'
import { markAsFilesTab } from '#lib/protocol/files-tab-mark.ts'
import { type ListingPart, listFolderCommand } from '#lib/protocol/list-folder.ts'
import { quotePath, shellQuote } from '#lib/protocol/shell-words.ts'
import { joinPath, parentPath } from './file-path.ts'
import { type FolderListing, parseListing } from './folder-listing.ts'

// The API has no calls for these, so they run as commands in the devbox. None transfers file contents.

const pageApi = browserApi({ executions })
type Api = typeof pageApi

/** Returns the command's output; rejects with the reason on stderr if it fails. */
export const runInDevbox = async (
  devboxId: string,
  command: string,
  api: Api = pageApi,
  signal?: AbortSignal,
): Promise<string> => {
  const call = { params: { id: devboxId }, body: { command }, ...(signal && { signal }) }
  const { stdout, stderr, exit_status } = await api.executions.executeSync(call)
  if (exit_status !== 0) throw new Error(reasonIn(stderr) || `The command exited with status ${exit_status}`)
  return stdout
}

/** The text after the last colon, as in "bash: line 1: cd: /none: No such file or directory". */
const reasonIn = (stderr: string): string => /(?:^|: )([^:]*)$/.exec(stderr.trim().slice(-600))?.[1] ?? ''

export const listFolder = async (
  devboxId: string,
  path: string,
  { api, signal, ...part }: ListingPart & { api?: Api; signal?: AbortSignal } = {},
): Promise<FolderListing> => parseListing(await runInDevbox(devboxId, listFolderCommand(path, part), api, signal))

export const makeFolder = (devboxId: string, path: string, api?: Api) =>
  runInDevbox(devboxId, `mkdir -- ${quotePath(path)}`, api)

/** Renames within the folder; never overwrites. */
export const renameFile = (devboxId: string, path: string, name: string, api?: Api) => {
  const to = shellQuote(joinPath(parentPath(path), name))
  const refuse = `{ echo 'A file or folder with this name already exists' >&2; exit 1; }`
  return runInDevbox(
    devboxId,
    `[ ! -e ${to} ] && [ ! -L ${to} ] || ${refuse}; mv -nT -- ${shellQuote(path)} ${to}`,
    api,
  )
}

export const deleteFiles = (devboxId: string, files: readonly string[], api?: Api) =>
  runInDevbox(devboxId, `rm -rf -- ${files.map(shellQuote).join(' ')}`, api)

export const fileSize = async (devboxId: string, path: string, api?: Api): Promise<number> =>
  Number(await runInDevbox(devboxId, markAsFilesTab(`stat -L -c %s -- ${quotePath(path)}`), api))

export const isFolder = async (devboxId: string, path: string, api?: Api): Promise<boolean> =>
  (await runInDevbox(devboxId, markAsFilesTab(`[ ! -d ${quotePath(path)} ] || echo yes`), api)) !== ''

const maxCounted = 100_000

export interface ContentsCount {
  files: number
  folders: number
  isMore: boolean
}

/** Counts everything that deleting these files and folders would remove. Doesn't follow links. */
export const countContents = async (devboxId: string, files: readonly string[], api?: Api): Promise<ContentsCount> => {
  const paths = files.map(shellQuote).join(' ')
  const command = `find ${paths} -printf '%y\\n' 2>/dev/null | head -n ${maxCounted + 1} | sort | uniq -c`
  const counts = [...(await runInDevbox(devboxId, markAsFilesTab(command), api)).matchAll(/(\d+) (\S)/g)]
  const sum = (isFolder: boolean) =>
    counts.reduce((total, [, count, type]) => total + ((type === 'd') === isFolder ? Number(count) : 0), 0)
  const [folders, others] = [sum(true), sum(false)]
  return { folders, files: others, isMore: folders + others > maxCounted }
}

/** "12 files and 3 folders", "more than 100,000 files and folders". */
export const formatContents = ({ files, folders, isMore }: ContentsCount): string => {
  if (isMore) return `more than ${formatCount(maxCounted)} files and folders`
  const parts = [
    files > 0 ? formatCountOf(files, 'file') : '',
    folders > 0 ? formatCountOf(folders, 'folder') : '',
  ].filter(Boolean)
  return parts.join(' and ') || 'nothing'
}
