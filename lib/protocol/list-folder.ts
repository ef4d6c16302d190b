import { markAsFilesTab } from './files-tab-mark.ts'
import { quotePath } from './shell-words.ts'

export const entrySorts = ['name', 'size', 'changed'] as const
export type EntrySort = { column: (typeof entrySorts)[number]; descending: boolean }
export const byName: EntrySort = { column: 'name', descending: false }

export const pageEntries = 5_000
/** Without GNU tools each entry takes a process. */
const plainPageEntries = 500
/** The service limits command output. */
const maxListingBytes = 700_000

export interface ListingPart {
  /** Number of entries before this part. */
  offset?: number
  sort?: EntrySort
}

/**
 * A command of the Files tab that names its parameters in a comment. Prints Base64, because names need not be valid text:
 * entries end with NUL and fields with a slash.
 */
export const listFolderCommand = (path: string, { offset = 0, sort = byName }: ListingPart = {}): string => {
  const { column, descending } = sort
  const named = { path, offset, sort: { column, descending } }
  const order = descending ? 'r' : ''
  const keys = { name: `-k8,8${order}`, size: `-k4,4n${order} -k8,8`, changed: `-k5,5n${order} -k8,8` }[column]
  const all = 'find . -mindepth 1 -maxdepth 1'
  const gnu =
    `${all} -printf x | wc -c; printf '\\0'; ` +
    `${all} \\( -xtype d -printf 0 -o -printf 1 \\) -printf '/%y/%Y/%s/%T@/%m/%u/%f/%l\\0' 2>/dev/null | ` +
    `sort -z -t/ -k1,1 ${keys} | tail -z -n +${offset + 1} | head -z -n ${pageEntries} | head -c ${maxListingBytes}`
  return markAsFilesTab(
    `# ${JSON.stringify(named)}\nexport LC_ALL=C; cd -- ${quotePath(path)} || exit; ` +
      `{ printf '%s\\0' "$PWD"; if find . -maxdepth 0 -printf '' 2>/dev/null && printf x | tail -z -n +1 >/dev/null 2>&1; ` +
      `then ${gnu}; else ${plainList(offset)}; fi; } | base64`,
  )
}

/** The same with POSIX tools and `stat -c`, as BusyBox has them. */
const plainList = (offset: number): string => `
kind() { if [ -d "$1" ]; then k=d; elif [ -f "$1" ]; then k=f; elif [ -p "$1" ]; then k=p; elif [ -S "$1" ]; then k=s; elif [ -b "$1" ]; then k=b; elif [ -c "$1" ]; then k=c; else k=N; fi; }
each() { for f in * .[!.]* ..?*; do { [ -e "$f" ] || [ -L "$f" ]; } && "$@"; done; }
count() { n=$((n+1)); }
show() {
  kind "$f"; if [ $k = d ]; then r=0; else r=1; fi
  [ $r = $1 ] || return
  n=$((n+1)); { [ $n -gt ${offset} ] && [ $n -le ${offset + plainPageEntries} ]; } || return
  t=$k; [ ! -L "$f" ] || t=l
  s=$(stat -c '%s/%Y/%a/%U' -- "$f") || return
  printf '%s' "$r/$t/$k/$s/$f/"; [ $t != l ] || readlink -n -- "$f"; printf '\\0'
}
n=0; each count; printf '%s by name\\0' $n; n=0; each show 0; each show 1`

const isListing = ({ path, offset, sort }: Record<string, unknown>): boolean => {
  const { column, descending } = Object(sort) as Record<string, unknown>
  return (
    typeof path === 'string' &&
    !path.includes('\0') &&
    Number.isSafeInteger(offset) &&
    Number(offset) >= 0 &&
    entrySorts.some((each) => each === column) &&
    typeof descending === 'boolean'
  )
}

/** Whether a command is exactly the one that lists the folder it names, so that people who only read may run it. */
export const isListFolderCommand = (command: string): boolean => {
  const [, parameters = ''] = command.split('\n', 2)
  try {
    const named = JSON.parse(parameters.slice(2))
    return isListing(Object(named)) && command === listFolderCommand(named.path, named)
  } catch {
    return false
  }
}
