import type { DatabaseSync } from 'node:sqlite'

/**
 * What two texts have in common that differ in case alone. Unspecified: whether case counts in a search; it does not,
 * in any script. Upper case, because lower case depends on what stands beside a letter (a final sigma). SQLite's
 * tokenizer skips NUL, so it gets a stand-in from the private use area.
 */
export const searchText = (text: string): string => text.toUpperCase().replaceAll('\0', '\ue000')

/** Shorter texts have no trigram. */
const minIndexedLength = 3

export const isIndexed = (text: string): boolean => [...searchText(text)].length >= minIndexedLength

/** One trigram per account, which every one of its axons carries in the search index. */
const accountTag = (number: number): string =>
  String.fromCharCode(...[number >> 24, number >> 12, number].map((part) => 0x4e00 + (part & 0xfff)))

/** In FTS5's query language: the axons of the account whose id or name holds the text. */
export const containsMatch = (accountNumber: number, text: string) =>
  `account:${quoted(accountTag(accountNumber))} AND {id name}:${quoted(searchText(text))}`

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`

/** What the statements of the list of axons call; no index or trigger does, so that other programs can open the file. */
export const addSearchFunctions = (database: DatabaseSync) => {
  const options = { deterministic: true }
  database.function('search_text', options, (text) => (text === null ? null : searchText(String(text))))
  database.function('account_tag', options, (number) => accountTag(Number(number)))
  database.function('has_search_text', options, (id, name, folded) =>
    searchText(String(id)).includes(String(folded)) ||
    (name !== null && searchText(String(name)).includes(String(folded)))
      ? 1
      : 0,
  )
}
