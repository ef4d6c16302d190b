import { executions } from '#lib/contract/executions.ts'
import { nameIn, parentOf, shellPath, shellWord, within } from '../address/file-path.ts'
import { formatCount } from '../frame/format.ts'
import { readByFiles } from '../live/files-mark.ts'
import { browserApi } from './browser-api.ts'
import { downloadFile } from './file-download.ts'
import { type FolderListing, listCommand, parseListing } from './folder-listing.ts'

/** What the contract has no call for is a command of the devbox; none of them carries what is in a file. */
const pageApi = browserApi({ executions })
type Api = typeof pageApi

/** Runs a command and returns what it wrote. Rejects with the last thing it said when it failed. */
const run = async (devboxId: string, command: string, api: Api, signal?: AbortSignal): Promise<string> => {
  const call = { params: { id: devboxId }, body: { command }, ...(signal && { signal }) }
  const { stdout, stderr, exit_status } = await api.executions.executeSync(call)
  if (exit_status !== 0) throw new Error(reasonOf(stderr) || `The command ended with ${exit_status}`)
  return stdout
}

/** "bash: line 1: cd: /none: No such file or directory" says after its last colon what is wrong. */
const reasonOf = (stderr: string): string => /(?:^|: )([^:]*)$/.exec(stderr.trim().slice(-600))?.[1] ?? ''

export const listFolder = async (
  devboxId: string,
  path: string,
  api: Api = pageApi,
  signal?: AbortSignal,
): Promise<FolderListing> => parseListing(await run(devboxId, readByFiles(listCommand(path)), api, signal))

export const makeFolder = (devboxId: string, path: string, api: Api = pageApi) =>
  run(devboxId, `mkdir -- ${shellPath(path)}`, api)

/** Gives it another name in its folder; never over what has that name already. */
export const renameFile = (devboxId: string, path: string, name: string, api: Api = pageApi) => {
  const to = shellWord(within(parentOf(path), name))
  const refuse = `{ echo 'There is something of that name already' >&2; exit 1; }`
  return run(devboxId, `[ ! -e ${to} ] && [ ! -L ${to} ] || ${refuse}; mv -nT -- ${shellWord(path)} ${to}`, api)
}

export const deleteFiles = (devboxId: string, files: readonly string[], api: Api = pageApi) =>
  run(devboxId, `rm -rf -- ${words(files)}`, api)

/** Of a file, where reading it does not tell. */
export const sizeOf = async (devboxId: string, path: string, api: Api = pageApi): Promise<number> =>
  Number(await run(devboxId, readByFiles(`stat -L -c %s -- ${shellPath(path)}`), api))

/** Above this many it is said that there are more. */
const maxCounted = 100_000

export interface Extent {
  files: number
  folders: number
  /** There are more than were counted. */
  isMore: boolean
}

/** How much is deleted with these: what is in folders, and the folders and files themselves. Links are not followed. */
export const extentOf = async (devboxId: string, files: readonly string[], api: Api = pageApi): Promise<Extent> => {
  const command = `find ${words(files)} -printf '%y\\n' 2>/dev/null | head -n ${maxCounted + 1} | sort | uniq -c`
  const counts = [...(await run(devboxId, readByFiles(command), api)).matchAll(/(\d+) (\S)/g)]
  const sum = (isFolder: boolean) =>
    counts.reduce((total, [, count, type]) => total + ((type === 'd') === isFolder ? Number(count) : 0), 0)
  const [folders, others] = [sum(true), sum(false)]
  return { folders, files: others, isMore: folders + others > maxCounted }
}

/** "12 files and 3 folders", "more than 100,000 files and folders". */
export const extentWords = ({ files, folders, isMore }: Extent): string => {
  if (isMore) return `more than ${formatCount(maxCounted)} files and folders`
  const parts = [
    files > 0 ? `${formatCount(files)} ${files === 1 ? 'file' : 'files'}` : '',
    folders > 0 ? `${formatCount(folders)} ${folders === 1 ? 'folder' : 'folders'}` : '',
  ].filter(Boolean)
  return parts.join(' and ') || 'nothing'
}

/**
 * Has the browser save an archive of these, which are in one folder. tar ends with 1 when a file changed while it was
 * read: the archive is whole, and that file as it was then.
 */
export const downloadArchive = async (devboxId: string, files: readonly string[], api: Api = pageApi) => {
  const [first = '/'] = files
  const names = files.map((file) => shellWord(`./${nameIn(file)}`)).join(' ')
  const made = await run(
    devboxId,
    `d=$(mktemp -d) || exit; tar -C ${shellWord(parentOf(first))} -czf "$d/archive.tar.gz" -- ${names}; s=$?; ` +
      `[ $s -le 1 ] || { rm -rf -- "$d"; exit $s; }; echo "$d"`,
    api,
  )
  const place = made.trim()
  try {
    const name = files.length === 1 ? nameIn(first) || 'root' : nameIn(parentOf(first)) || 'files'
    await downloadFile(devboxId, `${place}/archive.tar.gz`, `${name}.tar.gz`)
  } finally {
    await run(devboxId, `rm -rf -- ${shellWord(place)}`, api).catch(() => undefined)
  }
}

const words = (files: readonly string[]) => files.map(shellWord).join(' ')
