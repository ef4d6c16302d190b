import type { RunLogFile } from '#lib/protocol/run-logs.ts'

export interface TreeRow {
  kind: 'folder' | 'file'
  /** Folders end with `/`. */
  path: string
  name: string
  depth: number
  file?: RunLogFile
  count?: number
  isOpen?: boolean
}

interface Folder {
  folders: Map<string, Folder>
  files: { name: string; file: RunLogFile }[]
  count: number
}

const emptyFolder = (): Folder => ({ folders: new Map(), files: [], count: 0 })

export interface LogTree {
  root: Folder
  count: number
  isFiltered: boolean
}

/** Keeps files whose path contains every word of the filter. */
export const logTree = (files: readonly RunLogFile[], filter: string): LogTree => {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  const root = emptyFolder()
  let count = 0
  for (const file of files) {
    const path = file.path.toLowerCase()
    if (!words.every((word) => path.includes(word))) continue
    count++
    const parts = file.path.split('/')
    const name = parts.pop() ?? ''
    let folder = root
    for (const part of parts) {
      const next = folder.folders.get(part) ?? emptyFolder()
      folder.folders.set(part, next)
      folder = next
      folder.count++
    }
    folder.files.push({ name, file })
  }
  return { root, count, isFiltered: words.length > 0 }
}

/** Visible rows, folders first. A filter opens all folders. */
export const treeRows = ({ root, isFiltered }: LogTree, opened: ReadonlySet<string>): TreeRow[] => {
  const rows: TreeRow[] = []
  const add = (folder: Folder, above: string, depth: number) => {
    for (const [name, below] of [...folder.folders].sort(([a], [b]) => byName(a, b))) {
      const path = `${above}${name}/`
      const isOpen = isFiltered || opened.has(path)
      rows.push({ kind: 'folder', path, name, depth, count: below.count, isOpen })
      if (isOpen) add(below, path, depth + 1)
    }
    for (const { name, file } of folder.files.toSorted((a, b) => byName(a.name, b.name)))
      rows.push({ kind: 'file', path: file.path, name, depth, file })
  }
  add(root, '', 0)
  return rows
}

const collator = new Intl.Collator('en', { numeric: true })
const id = /^[0-9a-f-]{16,}$/
/** Ids sort by character, which is by time; other names sort naturally. */
const byName = (a: string, b: string) => (id.test(a) && id.test(b) ? (a < b ? -1 : 1) : collator.compare(a, b))

export const foldersOf = (path: string): string[] =>
  [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1))

/** Drops the scenario run id that file names start with. */
export const withoutRunId = (name: string): string => name.replace(/^[a-z]{2,6}_[A-Za-z0-9]{8,}_(?=.)/, '')
