import type { DatabaseSync } from 'node:sqlite'

/** Unspecified: search ignores case in all scripts. NUL, which SQLite's tokenizer skips, becomes a private use character. */
export const searchText = (text: string): string => text.toUpperCase().replaceAll('\0', '\ue000')

const minIndexedLength = 3

export const isIndexed = (text: string): boolean => [...searchText(text)].length >= minIndexedLength

const accountTag = (number: number): string =>
  String.fromCharCode(...[number >> 24, number >> 12, number].map((part) => 0x4e00 + (part & 0xfff)))

export const containsMatch = (accountNumber: number, text: string) =>
  `account:${quoted(accountTag(accountNumber))} AND {id name}:${quoted(searchText(text))}`

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`

/** Only statements use these, no index or trigger, so other programs can open the file. */
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
