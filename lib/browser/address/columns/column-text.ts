import { type ColumnChoice, type ListColumns, metadataKeyOf } from '../list-columns.ts'

/** Columns as the address of a list and the browser keep them. */

const maxColumns = 24
const maxWidth = 2000

export const metadataColumnId = (key: string): `metadata.${string}` => `metadata.${key}`

export const columnLabel = (id: string, { labels }: ListColumns): string => {
  const label = labels[id]
  return metadataKeyOf(id) ?? (label ? label : id)
}

export const usualColumns = ({ usual }: ListColumns): ColumnChoice[] => usual.map((id) => ({ id }))

/** Null when the text is no column of the list. */
export const readColumnId = (text: string, { labels, hasMetadata }: ListColumns): string | null => {
  let id: string
  try {
    id = decodeURIComponent(text)
  } catch {
    // Another program has written it.
    return null
  }
  return Object.hasOwn(labels, id) || (hasMetadata && metadataKeyOf(id) !== undefined) ? id : null
}

// Commas, colons and the leading minus have a meaning in the address, so they are escaped in a key.
export const writeColumnId = (id: string): string => encodeURIComponent(id.toWellFormed())

/** `name:320,state,metadata.env`; null when the text names something that is no column. The name is always there. */
export const readColumns = (text: string, list: ListColumns): ColumnChoice[] | null => {
  const choices: ColumnChoice[] = []
  for (const each of text.split(',')) {
    const [, name = '', width] = /^([^:]+)(?::(\d{1,4}))?$/.exec(each) ?? []
    const id = readColumnId(name, list)
    if (!id) return null
    if (choices.some((choice) => choice.id === id)) continue
    choices.push(width ? { id, width: Math.min(maxWidth, Number(width)) } : { id })
  }
  return choices.length > maxColumns ? null : withName(choices)
}

const withName = (choices: ColumnChoice[]): ColumnChoice[] => [
  choices.find(({ id }) => id === 'name') ?? { id: 'name' },
  ...choices.filter(({ id }) => id !== 'name'),
]

/** Undefined for the usual columns, which an address does not spell out. */
export const writeColumns = (choices: readonly ColumnChoice[], list: ListColumns): string | undefined => {
  const text = choices.map(({ id, width }) => writeColumnId(id) + (width ? `:${Math.round(width)}` : '')).join(',')
  return text === list.usual.join(',') ? undefined : text
}
