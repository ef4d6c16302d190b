import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '#lib/service/kit/errors.ts'
import { databaseName, makeDataDir, runningService } from '#lib/service/store/data-dir.ts'
import { type Database, openDatabase, schemaOfFile } from '#lib/service/store/database.ts'
import { createKeyStore, type KeyStore } from '#lib/service/store/keys.ts'
import { schemaVersion } from '#lib/service/store/schema.ts'
import { findLogProblem } from '#lib/service/store/write-ahead-log.ts'
import type { CommandLine } from './command-line.ts'

/** Prints only the key on stdout, for `KEY=$(…)`, and the rest on stderr. */
export const addKey = ({ dataDir, account, name }: CommandLine) => {
  // Perhaps not the folder of the running service.
  const inNew = existsSync(join(dataDir, databaseName)) ? '' : ` in the new data folder ${dataDir}`
  return withKeys(dataDir, (keys) => {
    const { id, key } = keys.add({ account, name: name ?? null, nowMs: Date.now() })
    console.error(`Created key ${id} for account ${account}${inNew}. It won't be shown again:`)
    console.log(key)
  })
}

export const listKeys = ({ dataDir, keys: environmentKeys }: CommandLine) =>
  withKeys(dataDir, (keys) => {
    const time = (ms: number | null) => (ms === null ? '-' : new Date(ms).toISOString())
    const rows = keys.all().map(({ id, account, name, create_time_ms, expires_at_ms, revoke_time_ms, ...key }) => {
      const from = key.isFromApi ? `API${key.isRestricted ? ', restricted' : ''}` : 'keys add'
      return [id, account, name ?? '-', time(create_time_ms), time(expires_at_ms), time(revoke_time_ms), from]
    })
    for (const { account } of environmentKeys ?? []) rows.push(['-', account, '-', '-', '-', '-', 'DEVDECK_API_KEYS'])
    // With DEVDECK_API_KEYS set, the service ignores this key.
    if (!environmentKeys && existsSync(join(dataDir, 'api-key')))
      rows.push(['-', 'local', '-', '-', '-', '-', join(dataDir, 'api-key')])
    printTable([['ID', 'ACCOUNT', 'NAME', 'CREATED', 'EXPIRES', 'REVOKED', 'FROM'], ...rows])
  })

export const revokeKey = ({ dataDir, words: [id = ''] }: CommandLine) =>
  withKeys(dataDir, (keys) => {
    const known = keys.all().find((each) => each.id === id)
    if (!known) throw new StartError(`Key ${id} not found; run keys list to see the keys that can be revoked`)
    const isNew = keys.revoke(id, Date.now())
    console.log(`Key ${id} of account ${known.account} ${isNew ? 'is' : 'was already'} revoked`)
  })

export const withKeys = <T>(dataDir: string, work: (keys: KeyStore) => T): T => {
  const database = openDatabaseForCommand(dataDir)
  try {
    return work(createKeyStore(database))
  } finally {
    database.close()
  }
}

/** Several processes may write to the database, but none may upgrade it under a running service. */
const openDatabaseForCommand = (dataDir: string): Database => {
  const file = join(dataDir, databaseName)
  try {
    makeDataDir(dataDir)
    const running = runningService(dataDir)
    if (running && schemaOfFile(file) < schemaVersion)
      throw new StartError(
        `The service running on ${dataDir} (pid ${running.pid}) is older than this command; restart it first`,
      )
    const problem = running ? undefined : findLogProblem(file)
    if (problem?.keep) throw new StartError(`${problem.text}. Start the service first; it backs up the log`)
    return openDatabase(file)
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`Can't use the data folder ${dataDir}: ${(error as Error).message}`)
  }
}

const printTable = (rows: readonly (readonly string[])[]) => {
  const widths = rows[0]?.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0))) ?? []
  for (const row of rows) {
    const cells = row.map((cell, i) => cell.padEnd(widths[i] ?? 0))
    console.log(cells.join('  ').trimEnd())
  }
}
