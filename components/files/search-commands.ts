import { browserApi } from '#lib/browser/api/browser-api.ts'
import { backoffMs, pause } from '#lib/client/backoff.ts'
import { executions } from '#lib/contract/executions.ts'
import { markAsFilesTab } from '#lib/protocol/files-tab-mark.ts'
import { quotePath, shellQuote } from '#lib/protocol/shell-words.ts'
import { decodeName } from './file-path.ts'

const pageApi = browserApi({ executions })
type Api = typeof pageApi

export interface SearchQuery {
  kind: 'names' | 'contents'
  /** Where to start: absolute, relative to the home folder, or below `~`. */
  folder: string
  text: string
  includesHidden: boolean
  matchesCase: boolean
  /** For contents: whether `text` is an extended regular expression. */
  isRegex: boolean
  /** For contents: a glob that names of files must match; empty for all. */
  glob: string
}

export const maxNames = 500
const maxLines = 1_000
/** The names after `maxNames` are only counted. */
const maxCounted = 10_000
const maxLinesPerFile = 100
export const maxSearchedMiB = 2
/** Longer lines are cut: minified files have one. */
const maxLineBytes = 4_600

/** Prints the folder and then a record per match, all in Base64, because names need not be valid text. */
export const searchCommand = (query: SearchQuery): string => {
  const { kind, folder, includesHidden } = query
  // Reading these could block or never end.
  const system = `case $PWD in /) set -- \\( -path ./proc -o -path ./sys -o -path ./dev \\) -prune -o;; *) set --;; esac`
  const find = `find . "$@" ${includesHidden ? '' : `-name '.?*' -prune -o `}`
  const search = kind === 'names' ? namesCommand(find, query) : contentsCommand(find, query)
  return (
    `export LC_ALL=C; cd -- ${quotePath(folder)} || exit; ${refusals(query)}${system}; ` +
    `{ printf '%s\\0' "$PWD"; ${search}; } | base64`
  )
}

const refusals = ({ kind, text, isRegex }: SearchQuery): string => {
  if (kind === 'names') return ''
  const special = `case $PWD/ in /proc/*|/sys/*|/dev/*) echo 'Contents of system files cannot be searched' >&2; exit 1;; esac; `
  if (!isRegex) return special
  return `${special}grep -E -e ${shellQuote(text)} </dev/null; [ $? -le 1 ] || exit 2; `
}

const namesCommand = (find: string, { text, matchesCase }: SearchQuery): string =>
  `${find}! -path . -${matchesCase ? '' : 'i'}${text.includes('/') ? 'path' : 'name'} ${shellQuote(namePattern(text))} -print0`

/** Part of a name, or of a path if it has a slash. `*` and `?` make it a pattern for all of it; brackets are plain. */
const namePattern = (text: string): string => {
  const escaped = text.replace(/[\\[\]]/g, '\\$&')
  return /[*?]/.test(text) ? escaped : `*${escaped}*`
}

/** Without `grep -Z`, as in BusyBox, each file is searched on its own. */
const contentsCommand = (find: string, { text, matchesCase, isRegex, glob }: SearchQuery): string => {
  const options = `-nI${isRegex ? 'E' : 'F'}${matchesCase ? '' : 'i'} -m ${maxLinesPerFile} -e ${shellQuote(text)}`
  const name = glob === '' ? '' : `-name ${shellQuote(glob)} `
  const files = `${find}-type f ${name}-size -${maxSearchedMiB * 2048 + 1}`
  const cut = `cut -b 1-${maxLineBytes}`
  const alone = `for f; do grep ${options} -- "$f" | ${cut} | while IFS= read -r line; do printf '%s\\0%s\\n' "$f" "$line"; done; done`
  return (
    `{ if printf x | grep -qZ x 2>/dev/null; then ${files} -exec grep -HZ ${options} -- {} + | ${cut}; ` +
    `else ${files} -exec sh -c ${shellQuote(alone)} sh {} +; fi; } | head -n ${maxLines + 1}`
  )
}

/** Matches as they arrive. Paths are absolute. */
export interface FoundFile {
  path: string
  lines: FoundLine[]
}
export interface FoundLine {
  line: number
  text: string
}

export interface SearchResults {
  files: readonly FoundFile[]
  /** Matches in total, as far as counted: names, or lines. */
  total: number
  isMore: boolean
}

export const noResults: SearchResults = { files: [], total: 0, isMore: false }

/** Reads the output of a search, in pieces of any length. */
export class SearchReader {
  readonly #kind: SearchQuery['kind']
  #base64 = ''
  #bytes = new Uint8Array()
  #folder: string | undefined
  readonly #files = new Map<string, FoundFile>()
  #total = 0

  constructor(kind: SearchQuery['kind']) {
    this.#kind = kind
  }

  add(output: string): void {
    const text = this.#base64 + output.replace(/\s+/g, '')
    const end = text.length - (text.length % 4)
    this.#base64 = text.slice(end)
    const added = Uint8Array.from(atob(text.slice(0, end)), (character) => character.charCodeAt(0))
    const bytes = new Uint8Array(this.#bytes.length + added.length)
    bytes.set(this.#bytes)
    bytes.set(added, this.#bytes.length)
    let start = 0
    for (;;) {
      const next = this.#read(bytes, start)
      if (next === null) break
      start = next
    }
    this.#bytes = bytes.slice(start)
  }

  /** Reads a record and returns where the next one starts; null if it isn't complete. */
  #read(bytes: Uint8Array, start: number): number | null {
    const nul = bytes.indexOf(0, start)
    if (nul === -1) return null
    const name = bytes.subarray(start, nul)
    if (this.#folder === undefined) {
      this.#folder = decodeName(name).replace(/\/$/, '')
      return nul + 1
    }
    if (this.#kind === 'names') {
      if (this.#total < maxNames) this.#file(name)
      this.#total++
      return nul + 1
    }
    const end = bytes.indexOf(0x0a, nul)
    if (end === -1) return null
    const [, number = '', text = ''] =
      /^(\d+):(.*)$/s.exec(new TextDecoder().decode(bytes.subarray(nul + 1, end))) ?? []
    if (number !== '' && this.#total < maxLines) this.#file(name).lines.push({ line: Number(number), text })
    this.#total++
    return end + 1
  }

  #file(name: Uint8Array): FoundFile {
    const path = `${this.#folder}/${decodeName(name).replace(/^\.\//, '')}`
    const found = this.#files.get(path) ?? { path, lines: [] }
    this.#files.set(path, found)
    return found
  }

  get #limit() {
    return this.#kind === 'names' ? maxCounted : maxLines
  }

  get isFull(): boolean {
    return this.#total > this.#limit
  }

  get results(): SearchResults {
    return {
      files: [...this.#files.values()].map((file) => ({ ...file })),
      total: Math.min(this.#total, this.#limit),
      isMore: this.isFull,
    }
  }
}

export interface SearchEnd {
  /** Folders and files that could not be read. */
  unreadable: number
}

/** Runs a search until it ends; an abort ends it in the devbox too. */
export const runSearch = async (
  devboxId: string,
  query: SearchQuery,
  { api = pageApi, signal, onResults }: { api?: Api; signal: AbortSignal; onResults: (results: SearchResults) => void },
): Promise<SearchEnd> => {
  const command = markAsFilesTab(searchCommand(query))
  const started = await api.executions.executeAsync({ params: { id: devboxId }, body: { command } })
  const params = { devbox_id: devboxId, execution_id: started.execution_id }
  const reader = new SearchReader(query.kind)
  let offset = 0
  const read = async () => {
    for await (const { output, offset: next } of api.executions.streamStdout({ params, query: { offset }, signal })) {
      offset = next ?? offset + output.length
      reader.add(output)
      onResults(reader.results)
      if (reader.isFull) return
    }
  }
  let hasEnded = false
  try {
    for (let attempt = 0; ; attempt++) {
      // A broken stream looks like one that ended; only the status shows whether the command has ended.
      await read().catch((error: unknown) => {
        if (signal.aborted || attempt > 5) throw error
      })
      if (reader.isFull) return { unreadable: 0 }
      const { status, exit_status, stderr } = await api.executions.get({ params, query: { last_n: 500 } })
      signal.throwIfAborted()
      if (status === 'completed') {
        hasEnded = true
        if (exit_status !== 0) throw new Error(reasonIn(stderr ?? '') || `The search exited with status ${exit_status}`)
        onResults(reader.results)
        return { unreadable: (stderr ?? '').match(/: Permission denied$/gm)?.length ?? 0 }
      }
      await pause(backoffMs(attempt, { firstMs: 200, maxMs: 2_000 }), signal)
      signal.throwIfAborted()
    }
  } finally {
    const kill = { params, body: { kill_process_group: true } }
    // It may have ended in the meantime.
    if (!hasEnded) void api.executions.kill(kill).catch(() => undefined)
  }
}

const reasonIn = (stderr: string): string => /(?:^|: )([^:]*)$/.exec(stderr.trim().slice(-600))?.[1] ?? ''
