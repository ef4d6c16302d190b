import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { type CommandApi, runInDevbox } from './devbox-command.ts'
import { parentOf, shellPath, shellWord, within } from './file-path.ts'
import { type FolderListing, listCommand, parseListing } from './folder-listing.ts'
import { readByFiles } from './read-mark.ts'

// The contract has no call for these, so they are commands of the devbox. None of them carries what is in a file.

export const listFolder = async (
  devboxId: string,
  path: string,
  api?: CommandApi,
  signal?: AbortSignal,
): Promise<FolderListing> => parseListing(await runInDevbox(devboxId, readByFiles(listCommand(path)), api, signal))

export const makeFolder = (devboxId: string, path: string, api?: CommandApi) =>
  runInDevbox(devboxId, `mkdir -- ${shellPath(path)}`, api)

/** Gives it another name in its folder; never over what has that name already. */
export const renameFile = (devboxId: string, path: string, name: string, api?: CommandApi) => {
  const to = shellWord(within(parentOf(path), name))
  const refuse = `{ echo 'There is something of that name already' >&2; exit 1; }`
  return runInDevbox(devboxId, `[ ! -e ${to} ] && [ ! -L ${to} ] || ${refuse}; mv -nT -- ${shellWord(path)} ${to}`, api)
}

export const deleteFiles = (devboxId: string, files: readonly string[], api?: CommandApi) =>
  runInDevbox(devboxId, `rm -rf -- ${words(files)}`, api)

/** Of a file, where reading it does not tell. */
export const sizeOf = async (devboxId: string, path: string, api?: CommandApi): Promise<number> =>
  Number(await runInDevbox(devboxId, readByFiles(`stat -L -c %s -- ${shellPath(path)}`), api))

/** Above this many it is said that there are more. */
const maxCounted = 100_000

export interface Extent {
  files: number
  folders: number
  /** There are more than were counted. */
  isMore: boolean
}

/** How much is deleted with these: what is in folders, and the folders and files themselves. Links are not followed. */
export const extentOf = async (devboxId: string, files: readonly string[], api?: CommandApi): Promise<Extent> => {
  const command = `find ${words(files)} -printf '%y\\n' 2>/dev/null | head -n ${maxCounted + 1} | sort | uniq -c`
  const counts = [...(await runInDevbox(devboxId, readByFiles(command), api)).matchAll(/(\d+) (\S)/g)]
  const sum = (isFolder: boolean) =>
    counts.reduce((total, [, count, type]) => total + ((type === 'd') === isFolder ? Number(count) : 0), 0)
  const [folders, others] = [sum(true), sum(false)]
  return { folders, files: others, isMore: folders + others > maxCounted }
}

/** "12 files and 3 folders", "more than 100,000 files and folders". */
export const extentWords = ({ files, folders, isMore }: Extent): string => {
  if (isMore) return `more than ${formatCount(maxCounted)} files and folders`
  const parts = [
    files > 0 ? formatCountOf(files, 'file') : '',
    folders > 0 ? formatCountOf(folders, 'folder') : '',
  ].filter(Boolean)
  return parts.join(' and ') || 'nothing'
}

const words = (files: readonly string[]) => files.map(shellWord).join(' ')
