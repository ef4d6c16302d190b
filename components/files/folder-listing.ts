import type { EntrySort } from '#lib/protocol/list-folder.ts'
import { decodeName } from './file-path.ts'

/** `find` types: file, directory, link, pipe, socket, block and character device. */
export type EntryType = 'f' | 'd' | 'l' | 'p' | 's' | 'b' | 'c'

export interface FolderEntry {
  name: string
  type: EntryType
  /** Target of a link; type N if it doesn't exist. */
  target: { path: string; type: EntryType | 'N' } | null
  sizeBytes: number
  changedMs: number
  mode: string
  owner: string
}

/** A part of a folder's entries. */
export interface FolderListing {
  folder: string
  entries: FolderEntry[]
  total: number
  /** The devbox lacks GNU tools, so its listing is by name whatever was requested. */
  isOnlyByName: boolean
}

export const parseListing = (base64: string): FolderListing => {
  const bytes = bytesOf(base64)
  const records: Uint8Array[] = []
  let start = 0
  // Skips a truncated last record.
  for (let end = bytes.indexOf(0); end !== -1; end = bytes.indexOf(0, start)) {
    records.push(bytes.subarray(start, end))
    start = end + 1
  }
  const [folder, count = new Uint8Array(), ...rest] = records
  const [, total, byName] = /^\s*(\d+)( by name)?\s*$/.exec(new TextDecoder().decode(count)) ?? []
  if (!folder || total === undefined) throw new Error('Unexpected folder listing from the devbox')
  const entries = rest.map(entryOf)
  return {
    folder: decodeName(folder),
    entries,
    total: Math.max(Number(total), entries.length),
    isOnlyByName: byName !== undefined,
  }
}

const bytesOf = (base64: string): Uint8Array => {
  try {
    return Uint8Array.from(atob(base64.replace(/\s+/g, '')), (character) => character.charCodeAt(0))
  } catch {
    throw new Error('Unexpected folder listing from the devbox')
  }
}

const entryOf = (record: Uint8Array): FolderEntry => {
  const [, type = 'f', targetType = 'N', size, seconds, mode = '', owner = '', name = '', ...target] =
    decodeName(record).split('/')
  return {
    name,
    type: type as EntryType,
    target:
      type === 'l'
        ? { path: target.join('/'), type: /^[fdpsbc]$/.test(targetType) ? (targetType as EntryType) : 'N' }
        : null,
    sizeBytes: Number(size),
    changedMs: Math.floor(Number(seconds) * 1000),
    mode,
    owner,
  }
}

export const openTarget = ({ type, target }: FolderEntry): 'folder' | 'file' | null => {
  const opened = target?.type ?? type
  return opened === 'd' ? 'folder' : opened === 'f' ? 'file' : null
}

/** "drwxr-xr-x" */
export const formatMode = ({ type, mode }: Pick<FolderEntry, 'type' | 'mode'>): string => {
  const bits = Number.parseInt(mode, 8)
  const special = [bits & 0o4000, bits & 0o2000, bits & 0o1000]
  const groups = [6, 3, 0].map((shift, index) => {
    const rwx = (bits >> shift) & 7
    const execute = rwx & 1 ? 'x' : '-'
    const letter = index === 2 ? 't' : 's'
    const last = special[index] ? (rwx & 1 ? letter : letter.toUpperCase()) : execute
    return `${rwx & 4 ? 'r' : '-'}${rwx & 2 ? 'w' : '-'}${last}`
  })
  return (type === 'f' ? '-' : type) + groups.join('')
}

/** Folders first; numbers in names compare by value. */
export const sortEntries = (entries: readonly FolderEntry[], { column, descending }: EntrySort): FolderEntry[] => {
  const sign = descending ? -1 : 1
  const rank = (entry: FolderEntry) => (openTarget(entry) === 'folder' ? 0 : 1)
  const by = {
    name: (a: FolderEntry, b: FolderEntry) => names.compare(a.name, b.name),
    size: (a: FolderEntry, b: FolderEntry) => a.sizeBytes - b.sizeBytes,
    changed: (a: FolderEntry, b: FolderEntry) => a.changedMs - b.changedMs,
  }[column]
  return [...entries].sort((a, b) => rank(a) - rank(b) || sign * by(a, b) || names.compare(a.name, b.name))
}

const names = new Intl.Collator('en', { numeric: true, sensitivity: 'variant' })
