/** Names the service keeps for itself in the database of an axon. */
const isReserved = (name: string | null) => name !== null && /^rl_/i.test(name)

/** Those that tell about the schema. None of them changes the connection, which other calls use after this one. */
const pragmas = new Set([
  'table_info',
  'table_xinfo',
  'table_list',
  'index_list',
  'index_info',
  'index_xinfo',
  'foreign_key_list',
  'foreign_key_check',
  'integrity_check',
  'quick_check',
  'compile_options',
  'function_list',
  'collation_list',
  // Full-text tables ask for it.
  'data_version',
])
/** Those that rtree tables ask for; an argument would change something. */
const readPragmas = new Set(['page_size'])
const modules = new Set(['fts5', 'rtree'])
const functions = new Set(['load_extension', 'fts3_tokenizer'])

const [ok, deny] = [0, 1]
/** The action codes of SQLite, which the types of Node do not name yet. */
const action = {
  createIndex: 1,
  createTable: 2,
  createTrigger: 7,
  createView: 8,
  delete: 9,
  dropIndex: 10,
  dropTable: 11,
  dropTrigger: 16,
  dropView: 17,
  insert: 18,
  pragma: 19,
  read: 20,
  select: 21,
  update: 23,
  alterTable: 26,
  reindex: 27,
  analyze: 28,
  createVirtualTable: 29,
  dropVirtualTable: 30,
  function: 31,
  savepoint: 32,
  recursive: 33,
}

const reads = new Set([action.select, action.read, action.recursive, action.savepoint, action.reindex, action.analyze])
const writes = new Set([
  action.insert,
  action.update,
  action.delete,
  action.createTable,
  action.createIndex,
  action.createView,
  action.createTrigger,
  action.dropTable,
  action.dropIndex,
  action.dropView,
  action.dropTrigger,
  action.dropVirtualTable,
])

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
