import { withCondition } from '#components/list/metadata-condition.ts'
import { axonIdPattern, maxSearchLength } from '#lib/contract/axons.ts'
import type { AxonSearchParams } from './search-params.ts'

export type AxonSearch = Pick<AxonSearchParams, 'search' | 'name' | 'id' | 'metadata'>

interface ParsedSearch {
  filters: AxonSearch
  problem: string | null
}

// IDs of other services may differ in length. The text search finds those.
const wholeId = /^axn_[0-9a-z]{26}$/

/** `key:value` is metadata (`key:a,b`: either), `name:` starts a name, `id:` is an ID; quoted text is literal. */
export const readAxonSearch = (text: string): ParsedSearch => {
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
      else problem = 'An axon ID looks like axn_…'
    } else {
      const name = rawKey.startsWith(metadataPrefix) ? unquote(rawKey.slice(metadataPrefix.length)) : key
      if (name === '' || name.includes('][')) problem = 'A key must not contain "]["'
      else
        filters.metadata = withCondition(
          filters.metadata,
          isAnyOf ? { key: name, op: 'in', values } : { key: name, op: 'eq', value },
        )
    }
  }
  const search = words.join(' ')
  if (search.length > maxSearchLength) problem = `Search for at most ${maxSearchLength} characters`
  else if (wholeId.test(search)) filters.id ??= search
  else if (search !== '') filters.search = search
  return { filters, problem }
}

/** The search text for these filters. */
export const writeAxonSearch = ({ search, name, id, metadata = [] }: AxonSearch): string =>
  [
    ...metadata.map((condition) => {
      const { key, op } = condition
      const isReserved = key === 'name' || key === 'id' || key.startsWith(metadataPrefix)
      const values = op === 'eq' ? [condition.value] : condition.values
      // A trailing comma keeps "any of" with a single value.
      return `${isReserved ? metadataPrefix : ''}${quoteIn(key)}:${values.map(quoteIn).join(',')}${op === 'in' && values.length === 1 ? ',' : ''}`
    }),
    ...(name ? [`name:${quoteIn(name)}`] : []),
    ...(id ? [wholeId.test(id) && !search ? id : `id:${id}`] : []),
    ...(search ? [isPlain(search) ? search : quote(search)] : []),
  ].join(' ')

const metadataPrefix = 'metadata.'
// A quote may be unclosed while the user types.
const tokens = /(?:"(?:\\.|[^"\\])*"?|[^\s"])+/g

/** Splits at the first colon outside quotes. */
const splitKey = (token: string): [key: string | null, value: string] => {
  const [, key, value = ''] = /^((?:"(?:\\.|[^"\\])*"|[^":])+):(.*)$/s.exec(token) ?? []
  return key === undefined ? [null, token] : [key, value]
}

/** A comma outside quotes, even a trailing one, makes it "any of". */
const readValues = (text: string): { values: string[]; isAnyOf: boolean } => {
  const parts = text.match(/(?:"(?:\\.|[^"\\])*"?|[^,"])+|,$/g) ?? []
  const values = parts.filter((part) => part !== ',').map(unquote)
  return { values: [...new Set(values)].filter((value) => value !== '').sort(), isAnyOf: parts.length > 1 }
}

const unquote = (text: string): string =>
  text.replace(/"((?:\\.|[^"\\])*)"?/g, (_whole, inner: string) => inner.replace(/\\(.)/g, '$1'))

const quote = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`

const quoteIn = (text: string): string => (text === '' || /[\s",:\\]/.test(text) ? quote(text) : text)

/** Whether it parses as plain text. */
const isPlain = (search: string): boolean => {
  const read = readAxonSearch(search)
  return read.filters.search === search && Object.keys(read.filters).length === 1
}
