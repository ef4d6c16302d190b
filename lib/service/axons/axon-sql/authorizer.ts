import { constants } from 'node:sqlite'

const isReserved = (name: string | null) => name !== null && /^rl_/i.test(name)

/** Read-only pragmas, which do not affect later calls on the connection. */
const pragmas = new Set([
  ...['table_info', 'table_xinfo', 'table_list', 'index_list', 'index_info', 'index_xinfo', 'foreign_key_list'],
  ...['foreign_key_check', 'integrity_check', 'quick_check', 'compile_options', 'function_list', 'collation_list'],
  'data_version',
])
/** Used by rtree tables; allowed only without an argument. */
const readPragmas = new Set(['page_size'])
const modules = new Set(['fts5', 'rtree'])
const functions = new Set(['load_extension', 'fts3_tokenizer'])

const codeOf = (name: string): number => {
  const code = (constants as Record<string, number>)[`SQLITE_${name}`]
  if (code === undefined) throw new Error(`SQLite has no code ${name}`)
  return code
}
const [ok, deny] = [codeOf('OK'), codeOf('DENY')]
const reads = new Set(['SELECT', 'READ', 'RECURSIVE', 'SAVEPOINT', 'REINDEX', 'ANALYZE'].map(codeOf))
const writes = new Set(
  [
    ...['INSERT', 'UPDATE', 'DELETE', 'CREATE_TABLE', 'CREATE_INDEX', 'CREATE_VIEW', 'CREATE_TRIGGER'],
    ...['DROP_TABLE', 'DROP_INDEX', 'DROP_VIEW', 'DROP_TRIGGER', 'DROP_VTABLE'],
  ].map(codeOf),
)
const action = {
  alterTable: codeOf('ALTER_TABLE'),
  function: codeOf('FUNCTION'),
  pragma: codeOf('PRAGMA'),
  createVirtualTable: codeOf('CREATE_VTABLE'),
}

/** Allows anything with the user's own tables. Denies other files, transactions, temporary tables and changes to events. */
export const authorize = (code: number, first: string | null, second: string | null, schema: string | null): number => {
  if (reads.has(code)) return ok
  if (writes.has(code)) return isReserved(first) || isReserved(second) || isTemporary(schema, first) ? deny : ok
  switch (code) {
    case action.alterTable:
      return isReserved(second) ? deny : ok
    case action.function:
      return functions.has(second ?? '') ? deny : ok
    case action.pragma:
      return pragmas.has(first?.toLowerCase() ?? '') || (second === null && readPragmas.has(first ?? '')) ? ok : deny
    case action.createVirtualTable:
      return modules.has(second?.toLowerCase() ?? '') && !isReserved(first) ? ok : deny
    default:
      return deny
  }
}

/** ALTER TABLE always rewrites sqlite_temp_master, which statements cannot write to by name. */
const isTemporary = (schema: string | null, table: string | null) => schema === 'temp' && table !== 'sqlite_temp_master'
