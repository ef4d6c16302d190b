import { axonIdPattern, maxSearchLength } from '#lib/contract/axons.ts'
import type { AxonView } from '../address/axon-view.ts'
import { withCondition } from './metadata-condition.ts'

export type AxonSearch = Pick<AxonView, 'search' | 'name' | 'id' | 'metadata'>

/** What was understood, and what of the text could not be. */
export interface ReadSearch {
  filters: AxonSearch
  problem: string | null
}

// Ids of another service may have another length; they are looked for among names and ids, and found there, too.
const wholeId = /^axn_[0-9a-z]{26}$/

/**
 * The one search of the axon list: `key:value` is metadata (`key:a,b` either value), `name:` what a name starts with,
 * `id:` one id, and all else a part of the id or the name. What stands in quotes is taken as it is, and
 * `metadata.name:x` means the key of that name.
 */
export const readAxonSearch = (text: string): ReadSearch => {
  const filters: AxonSearch = {}
  const words: string[] = []
  let problem: string | null = null
  for (const token of text.match(tokens) ?? []) {
    const [rawKey, rawValue] = splitKey(token)
    if (rawKey === null) {
      words.push(unquote(token))
      continue
    }
    const key = unquote(rawKey)
    const { values, isAnyOf } = readValues(rawValue)
    const value = values[0] ?? ''
    if (value === '') problem = `${key}: has no value yet`
    else if (rawKey === 'name') filters.name = unquote(rawValue)
    else if (rawKey === 'id') {
      if (axonIdPattern.test(value)) filters.id = value
      else problem = 'An axon id reads axn_…'
    } else {
      const name = rawKey.startsWith(metadataPrefix) ? unquote(rawKey.slice(metadataPrefix.length)) : key
      if (name === '' || name.includes('][')) problem = 'A key cannot hold "]["'
      else
        filters.metadata = withCondition(
          filters.metadata,
          isAnyOf ? { key: name, op: 'in', values } : { key: name, op: 'eq', value },
        )
    }
  }
  const search = words.join(' ')
  if (search.length > maxSearchLength) problem = `At most ${maxSearchLength} characters are searched for`
  else if (wholeId.test(search)) filters.id ??= search
  else if (search !== '') filters.search = search
  return { filters, problem }
}

/** The text of filters: read again it means the same. */
export const writeAxonSearch = ({ search, name, id, metadata = [] }: AxonSearch): string =>
  [
    ...metadata.map((condition) => {
      const { key, op } = condition
      const isTaken = key === 'name' || key === 'id' || key.startsWith(metadataPrefix)
      const values = op === 'eq' ? [condition.value] : condition.values
      // A comma at the end keeps "any of" with one value what it is.
      return `${isTaken ? metadataPrefix : ''}${quoteIn(key)}:${values.map(quoteIn).join(',')}${op === 'in' && values.length === 1 ? ',' : ''}`
    }),
    ...(name ? [`name:${quoteIn(name)}`] : []),
    ...(id ? [wholeId.test(id) && !search ? id : `id:${id}`] : []),
    ...(search ? [isPlain(search) ? search : quote(search)] : []),
  ].join(' ')

const metadataPrefix = 'metadata.'
// Text in quotes may be unclosed while it is typed.
const tokens = /(?:"(?:\\.|[^"\\])*"?|[^\s"])+/g

/** The parts before and after the first colon outside of quotes; no key where there is none. */
const splitKey = (token: string): [key: string | null, value: string] => {
  const [, key, value = ''] = /^((?:"(?:\\.|[^"\\])*"|[^":])+):(.*)$/s.exec(token) ?? []
  return key === undefined ? [null, token] : [key, value]
}

/** A comma outside of quotes, also at the end, makes it "any of". */
const readValues = (text: string): { values: string[]; isAnyOf: boolean } => {
  const parts = text.match(/(?:"(?:\\.|[^"\\])*"?|[^,"])+|,$/g) ?? []
  const values = parts.filter((part) => part !== ',').map(unquote)
  return { values: [...new Set(values)].filter((value) => value !== '').sort(), isAnyOf: parts.length > 1 }
}

const unquote = (text: string): string =>
  text.replace(/"((?:\\.|[^"\\])*)"?/g, (_whole, inner: string) => inner.replace(/\\(.)/g, '$1'))

const quote = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`

const quoteIn = (text: string): string => (text === '' || /[\s",:\\]/.test(text) ? quote(text) : text)

/** It is read as the words it is. */
const isPlain = (search: string): boolean => {
  const read = readAxonSearch(search)
  return read.filters.search === search && Object.keys(read.filters).length === 1
}
