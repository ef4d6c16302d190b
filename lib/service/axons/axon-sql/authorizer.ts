import { constants } from 'node:sqlite'

/** Names the service keeps for itself in the database of an axon. */
const isReserved = (name: string | null) => name !== null && /^rl_/i.test(name)

/** Those that tell about the schema. None of them changes the connection, which other calls use after this one. */
const pragmas = new Set([
  ...['table_info', 'table_xinfo', 'table_list', 'index_list', 'index_info', 'index_xinfo', 'foreign_key_list'],
  ...['foreign_key_check', 'integrity_check', 'quick_check', 'compile_options', 'function_list', 'collation_list'],
  // Full-text tables ask for it.
  'data_version',
])
/** Those that rtree tables ask for; an argument would change something. */
const readPragmas = new Set(['page_size'])
const modules = new Set(['fts5', 'rtree'])
const functions = new Set(['load_extension', 'fts3_tokenizer'])

/** The codes of SQLite, which the types of Node do not name yet. */
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

/**
 * What the SQL of a user may do: anything within the axon's own tables. All that is not named here is refused, and so are
 * other files (ATTACH, VACUUM), transactions of its own, temporary tables, which would outlive the call, and any change to
 * the events.
 */
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

/** The schema of what is temporary is rewritten with every ALTER TABLE; no statement can name it as what it writes to. */
const isTemporary = (schema: string | null, table: string | null) => schema === 'temp' && table !== 'sqlite_temp_master'
