import * as z from 'zod/mini'
import type { preferenceCookies } from '../frame/preferences.ts'

/** Which columns a list shows, in which order and how wide: the part of its address that says so, the same for all. */

export interface ColumnChoice {
  /** One the list names, or `metadata.env`, which shows the value of that key. */
  id: string
  /** Pixels; absent: what suits it. */
  width?: number
}

/** The columns a list can have. */
export interface ListColumns {
  /** Each with its name. The one called `name` stands first in each row and says which it is. */
  labels: Readonly<Record<string, string>>
  /** Those of a list that nobody chose columns for. */
  usual: readonly string[]
  /** Whether rows have metadata, so that its keys can be columns. */
  hasMetadata: boolean
  /** Where the browser keeps what was chosen last. */
  cookie: Extract<keyof typeof preferenceCookies, `${string}Columns`>
}

export const axonColumns = {
  labels: { name: 'Name', id: 'Id', state: 'State', metadata: 'Metadata', created: 'Created', deleted: 'Deleted' },
  usual: ['name', 'id', 'state', 'metadata', 'created'],
  hasMetadata: true,
  cookie: 'axonColumns',
} as const satisfies ListColumns

export const devboxColumns: ListColumns = {
  labels: {
    name: 'Name',
    status: 'Status',
    id: 'Id',
    metadata: 'Metadata',
    created: 'Created',
    lifetime: 'Lifetime',
    'time-left': 'Time left',
    ended: 'Ended',
  },
  usual: ['name', 'status', 'id', 'metadata', 'created', 'lifetime', 'time-left'],
  hasMetadata: true,
  cookie: 'devboxColumns',
}

export const snapshotColumns: ListColumns = {
  labels: { name: 'Name', size: 'Size', id: 'Id', devbox: 'Devbox', metadata: 'Metadata', created: 'Created' },
  usual: ['name', 'size', 'id', 'devbox', 'metadata', 'created'],
  hasMetadata: true,
  cookie: 'snapshotColumns',
}

export const jobColumns: ListColumns = {
  labels: {
    name: 'Name',
    state: 'State',
    agents: 'Agents and scores',
    source: 'Source',
    progress: 'Trials',
    counts: 'Outcomes',
    duration: 'Duration',
    created: 'Created',
    id: 'Id',
  },
  usual: ['name', 'state', 'agents', 'source', 'progress', 'counts', 'duration', 'created'],
  hasMetadata: false,
  cookie: 'jobColumns',
}

export const runColumns: ListColumns = {
  labels: {
    name: 'Name',
    agent: 'Agent',
    job: 'Job',
    state: 'State',
    score: 'Score',
    metadata: 'Metadata',
    duration: 'Duration',
    started: 'Started',
    id: 'Id',
  },
  usual: ['name', 'agent', 'job', 'state', 'score', 'metadata', 'duration', 'started'],
  hasMetadata: true,
  cookie: 'runColumns',
}

export const scenarioColumns: ListColumns = {
  labels: { name: 'Name', verifier: 'Verifier', status: 'Status', metadata: 'Metadata', id: 'Id' },
  usual: ['name', 'verifier', 'status', 'metadata', 'id'],
  hasMetadata: true,
  cookie: 'scenarioColumns',
}

const maxColumns = 24
const maxWidth = 2000
const keyPrefix = 'metadata.'

export const metadataKeyOf = (id: string): string | undefined =>
  id.startsWith(keyPrefix) && id.length > keyPrefix.length ? id.slice(keyPrefix.length) : undefined

export const metadataColumnId = (key: string): `metadata.${string}` => `${keyPrefix}${key}`

export const columnLabel = (id: string, { labels }: ListColumns): string => metadataKeyOf(id) ?? labels[id] ?? id

export const usualColumns = ({ usual }: ListColumns): ColumnChoice[] => usual.map((id) => ({ id }))

/** Null when the text is no column of the list. */
export const readColumnId = (text: string, { labels, hasMetadata }: ListColumns): string | null => {
  let id: string
  try {
    id = decodeURIComponent(text)
  } catch {
    // Not written by us.
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

/** The part of a list's address that names its columns. */
export const columnsField = (list: ListColumns) => ({
  columns: z.optional(z.string().check(z.refine((text) => readColumns(text, list) !== null, 'must name columns'))),
})

/** A list query of the API, and beside it the columns that its page shows. */
export const withColumns = <Shape extends z.core.$ZodShape>(query: z.ZodMiniObject<Shape>, list: ListColumns) =>
  z.extend(query, columnsField(list))

/** A view without what says how it is shown: what the service is asked for. */
export const withoutColumns = <View extends { columns?: string | undefined }>({
  columns: _columns,
  ...query
}: View): Omit<View, 'columns'> => query
