import type { MetadataCondition } from '#lib/contract/encode-query.ts'

export type Value = string | number

/** Unspecified: a page of large records ends early at this size, with has_more. */
export const maxPageBytes = 8 * 1024 * 1024

export interface Clause {
  sql: string
  values: Value[]
}

export const clause = (sql: string, ...values: Value[]): Clause => ({ sql, values })
export const sqlOf = (clauses: readonly Clause[]) => clauses.map(({ sql }) => sql).join(' AND ')
export const valuesOf = (clauses: readonly Clause[]) => clauses.flatMap(({ values }) => values)
export const allOf = (clauses: readonly Clause[]): Clause => clause(sqlOf(clauses), ...valuesOf(clauses))
export const placeholders = (values: readonly Value[]) => values.map(() => '?').join(', ')

export const metadataClause = (table: string, account: string, condition: MetadataCondition, seq: string): Clause => {
  const values = condition.op === 'eq' ? [condition.value] : condition.values
  const where = `o.account = ? AND o.key = ? AND o.value IN (${placeholders(values)}) AND o.seq = ${seq}`
  return clause(`EXISTS (SELECT 1 FROM ${table} AS o WHERE ${where})`, account, condition.key, ...values)
}

export interface CommonFilter {
  name?: string | undefined
  search?: string | undefined
  metadata?: MetadataCondition[] | undefined
}

export const equals = (column: string, value: Value | undefined): Clause[] =>
  value === undefined ? [] : [clause(`${column} = ?`, value)]

export const commonClauses = (
  table: string,
  account: string,
  { name, search, metadata = [] }: CommonFilter,
  metadataTable = '',
): Clause[] => [
  clause(`${table}.account = ?`, account),
  ...(name === undefined ? [] : [containsClause([`${table}.name`], name)]),
  ...(search === undefined ? [] : [containsClause([`${table}.id`, `${table}.name`], search)]),
  ...metadata.map((condition) => metadataClause(metadataTable, account, condition, `${table}.seq`)),
]

/** One of `columns` contains `text`. Unspecified: LIKE ignores the case of ASCII letters only. */
const containsClause = (columns: readonly string[], text: string): Clause => {
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`
  return clause(
    `(${columns.map((column) => `${column} LIKE ? ESCAPE '\\'`).join(' OR ')})`,
    ...columns.map(() => pattern),
  )
}
