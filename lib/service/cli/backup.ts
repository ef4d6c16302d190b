import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { sizeText } from '#lib/service/kit/amounts.ts'
import { StartError } from '#lib/service/kit/errors.ts'
import { spawnProcess } from '#lib/service/kit/spawn.ts'
import { databaseName } from '#lib/service/store/data-dir.ts'
import { inspectDatabase, openDatabase } from '#lib/service/store/database.ts'
import { namesIn } from '#lib/service/store/lost-and-found.ts'
import { schemaVersion } from '#lib/service/store/schema.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import type { CommandLine } from './command-line.ts'

/** Of the service's data folder. Environments and agents are rebuilt on demand; the rest belongs to a running service. */
const serviceFolders = ['devboxes', 'snapshots', 'objects', 'blueprints', 'runs', 'agents', 'audit']
const serviceFiles = ['api-key', 'secrets-key', 'retention-since']
const consoleFolders = ['recordings']
const consoleFiles = /^(session-secret|push-keys)$/
const consoleDatabase = /^\w+\.sqlite$/
const manifestName = 'backup.json'
const maxRounds = 20

interface Manifest {
  version: string
  schema: number
  create_time_ms: number
  /** Devboxes, snapshots and blueprints whose disks are in a container engine, not in the backup. */
  elsewhere: number
  /** Missing in backups by older releases. */
  elsewhere_names?: readonly string[]
}

/**
 * Writes the data of a service, and of the console it belongs to, to one tar file. Both may be running: databases are
 * copied consistently, and every disk that the copied database names is in the file.
 */
export const backup = async ({ dataDir, words: [given = ''] }: CommandLine) => {
  const database = join(dataDir, databaseName)
  if (!existsSync(database)) throw new StartError(`${dataDir} is not the data folder of a service`)
  const file = resolve(given)
  if (existsSync(file)) throw new StartError(`${file} already exists`)
  if (file.startsWith(`${dataDir}${sep}`))
    throw new StartError(`${file} is in the data folder ${dataDir}; write the backup to another folder`)
  const [part, staging] = [`${file}.part`, `${file}.staging`]
  try {
    for (const left of [part, staging]) rmSync(left, { recursive: true, force: true })
    if (!existsSync(dirname(file))) mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    // Not recursive, which hides the reason for a failure and never returns in /proc.
    mkdirSync(staging, { mode: 0o700 })
    writeFileSync(part, '', { mode: 0o600 })
    const warnings = new Set<string>()
    const add = async (prefix: string, folder: string, paths: readonly string[]) => {
      for (const line of await appendToTar(part, prefix, folder, paths)) warnings.add(line)
    }
    // Disks that are incomplete now may be copied half written, so they are added again with the database.
    const complete = copyDisksDatabase(dataDir, staging).local
    await add('service', dataDir, present(dataDir, [...serviceFolders, ...serviceFiles]))
    await copyAxons(dataDir, staging)
    const consoleDir = consoleOf(dataDir)
    if (consoleDir !== undefined) await addConsole(consoleDir, staging, add)
    await add('service', staging, present(staging, ['axons']))
    const elsewhere = await addDatabase(dataDir, staging, complete, add)
    const manifest: Manifest = {
      version: packageJson.version,
      schema: schemaVersion,
      create_time_ms: Date.now(),
      elsewhere: elsewhere.length,
      elsewhere_names: elsewhere,
    }
    writeFileSync(join(staging, manifestName), `${JSON.stringify(manifest, null, 2)}\n`)
    await add('.', staging, [manifestName])
    renameSync(part, file)
    for (const warning of warnings) console.error(warning)
    reportElsewhere('this backup', manifest)
    const what = consoleDir === undefined ? 'the service' : 'the service and the console'
    console.log(`Backed up ${what} to ${file} (${sizeText(statSync(file).size)}). It contains keys: keep it private`)
  } catch (error) {
    throw failure(`${file} can't be written`, error)
  } finally {
    discard(part, staging)
  }
}

/** Creates the data folders from a backup. Changes nothing if there is one already. */
export const restore = async ({ dataDir, words: [given = ''] }: CommandLine) => {
  const file = resolve(given)
  if (!existsSync(file)) throw new StartError(`${file} doesn't exist`)
  const consoleDir = dirname(dataDir)
  if (namesIn(dataDir).length > 0) throw new StartError(`${dataDir} isn't empty; restore into a new folder`)
  const unpacked = join(consoleDir, `restoring-${basename(dataDir)}`)
  try {
    mkdirSync(consoleDir, { recursive: true, mode: 0o700 })
    rmSync(unpacked, { recursive: true, force: true })
    mkdirSync(unpacked, { mode: 0o700 })
    await tar(['--extract', '--preserve-permissions', '--numeric-owner', '--file', file, '--directory', unpacked])
    const manifest = readManifest(unpacked, file)
    if (manifest.schema > schemaVersion)
      throw new StartError(
        `${file} was written by Devdeck ${manifest.version}, which is newer; restore it with that release`,
      )
    const { schema, problem = schema === 0 ? 'it is empty' : undefined } = inspectDatabase(
      join(unpacked, 'service', databaseName),
    )
    if (problem !== undefined) throw new StartError(`The database in ${file} can't be used: ${problem}`)
    const inBackup = namesIn(join(unpacked, 'console'))
    const consoleNames = isOfConsole(dataDir) ? inBackup : []
    const taken = consoleNames.filter((name) => existsSync(join(consoleDir, name)))
    if (taken.length > 0)
      throw new StartError(`${consoleDir} already has ${taken.join(', ')} of a console; restore into a new folder`)
    rmSync(dataDir, { recursive: true, force: true })
    renameSync(join(unpacked, 'service'), dataDir)
    for (const name of consoleNames) renameSync(join(unpacked, 'console', name), join(consoleDir, name))
    const made = new Date(manifest.create_time_ms).toISOString()
    console.log(`Restored the backup of ${made} to ${consoleNames.length > 0 ? consoleDir : dataDir}`)
    if (inBackup.length > consoleNames.length)
      console.error('The data of the console was not restored: only a data folder named service belongs to a console')
    reportElsewhere('the backup', manifest)
    const ofConsole = consoleNames.length > 0 ? ', personal keys, sessions and share links' : ''
    console.log(`API keys${ofConsole} that were revoked since then are valid again; check API keys with keys list`)
  } catch (error) {
    throw failure(`${file} can't be restored`, error)
  } finally {
    discard(unpacked)
  }
}

const reportElsewhere = (backup: string, { elsewhere, elsewhere_names = [] }: Manifest) => {
  if (elsewhere === 0) return
  console.error(
    `${elsewhere} of the devboxes, snapshots and blueprints have their disks in a container engine, which ${backup} doesn't include`,
  )
  for (const name of elsewhere_names) console.error(`  ${name}`)
}

type Add = (prefix: string, folder: string, paths: readonly string[]) => Promise<void>

/** Next to a folder with another name, such as /var/lib/devdeck-service, there are files of other programs. */
const isOfConsole = (dataDir: string): boolean => basename(dataDir) === 'service'

/** The console's data folder, if this service is embedded in one. */
const consoleOf = (dataDir: string): string | undefined => {
  if (!isOfConsole(dataDir)) return undefined
  const parent = dirname(dataDir)
  return namesIn(parent).some((name) => name === 'session-secret' || consoleDatabase.test(name)) ? parent : undefined
}

const addConsole = async (folder: string, staging: string, add: Add) => {
  const names = readdirSync(folder)
  await add('console', folder, [...present(folder, consoleFolders), ...names.filter((name) => consoleFiles.test(name))])
  const copies = join(staging, 'console')
  mkdirSync(copies, { mode: 0o700 })
  const databases = names.filter((name) => consoleDatabase.test(name))
  for (const name of databases) copyDatabase(join(folder, name), join(copies, name))
  await add('console', copies, databases)
}

const copyAxons = async (dataDir: string, staging: string) => {
  const databases = namesIn(join(dataDir, 'axons')).filter((name) => name.endsWith('.db'))
  if (databases.length > 0) mkdirSync(join(staging, 'axons'), { mode: 0o700 })
  for (const name of databases) copyDatabase(join(dataDir, 'axons', name), join(staging, 'axons', name))
}

/**
 * The database goes last, after the disks that were created while the others were copied. Returns the records whose
 * disks are in a container engine.
 */
const addDatabase = async (
  dataDir: string,
  staging: string,
  complete: readonly string[],
  add: Add,
): Promise<string[]> => {
  const done = new Set(complete)
  for (let round = 0; round < maxRounds; round++) {
    const { local, elsewhere } = copyDisksDatabase(dataDir, staging)
    const missing = local.filter((path) => !done.has(path))
    if (missing.length === 0) {
      await add('service', staging, [databaseName])
      return elsewhere
    }
    const there = present(dataDir, missing)
    await add('service', dataDir, there)
    for (const path of there) done.add(path)
  }
  throw new StartError('Devboxes and snapshots are created and deleted faster than they can be copied; try again later')
}

/** Copies the service's database, and returns the disks that it names. */
const copyDisksDatabase = (dataDir: string, staging: string) => {
  const copy = join(staging, databaseName)
  rmSync(copy, { force: true })
  copyDatabase(join(dataDir, databaseName), copy)
  return disksOf(copy)
}

const disksOf = (file: string): { local: string[]; elsewhere: string[] } => {
  const database = openDatabase(file)
  try {
    const rows = database
      .prepare(`
        SELECT 'devboxes/' || id AS path, engine, 'devbox ' || coalesce(name || ' (' || id || ')', id) AS title FROM devboxes WHERE status NOT IN ('shutdown', 'failure', 'queued', 'provisioning')
        UNION ALL SELECT 'snapshots/' || id, engine, 'snapshot ' || coalesce(name || ' (' || id || ')', id) FROM snapshots WHERE status = 'complete'
        UNION ALL SELECT 'objects/' || id, 'local', '' FROM objects WHERE state = 'READ_ONLY'
        UNION ALL SELECT 'blueprints/' || id, iif(image IS NULL, 'local', 'container'), 'blueprint ' || name || ' (' || id || ')' FROM blueprints
          WHERE state = 'created' AND status = 'build_complete'`)
      .all() as { path: string; engine: string; title: string }[]
    return {
      local: rows.filter(({ engine }) => engine === 'local').map(({ path }) => path),
      elsewhere: rows.filter(({ engine }) => engine !== 'local').map(({ title }) => printable(title)),
    }
  } finally {
    database.close()
  }
}

const printable = (text: string) => text.replaceAll(/\p{C}/gu, '\u{fffd}')

const present = (folder: string, paths: readonly string[]) => paths.filter((path) => existsSync(join(folder, path)))

const copyDatabase = (from: string, to: string) => {
  const database = new DatabaseSync(from, { readOnly: true, timeout: 30_000 })
  try {
    database.prepare('VACUUM INTO ?').run(to)
  } finally {
    database.close()
  }
}

const readManifest = (folder: string, file: string): Manifest => {
  const incomplete = new StartError(`${file} is not a complete backup of Devdeck`)
  let manifest: Manifest | null
  try {
    manifest = JSON.parse(readFileSync(join(folder, manifestName), 'utf8'))
  } catch {
    throw incomplete
  }
  if (!Number.isInteger(manifest?.schema) || !Number.isInteger(manifest?.create_time_ms)) throw incomplete
  return manifest as Manifest
}

/** Where nothing can be removed, nothing could be written, and that error is the one to report. */
const discard = (...paths: readonly string[]) => {
  for (const path of paths)
    try {
      rmSync(path, { recursive: true, force: true })
    } catch {}
}

const failure = (what: string, error: unknown): StartError =>
  error instanceof StartError ? error : new StartError(`${what}: ${(error as Error).message}`)

/** Returns what tar noticed, such as a file that changed while it was read. */
const appendToTar = async (
  file: string,
  prefix: string,
  folder: string,
  paths: readonly string[],
): Promise<string[]> => {
  if (paths.length === 0) return []
  // Sockets and the folder of a devbox's running processes can't be restored.
  const excluded = ['--exclude', 'devboxes/*/run', '--warning', 'no-file-ignored']
  return tar(
    [
      ...['--append', '--file', file, '--directory', folder, '--numeric-owner', '--sparse', '--format', 'pax'],
      ...['--xattrs', '--anchored', ...excluded, '--transform', `s,^,${prefix}/,SH`, '--null', '--files-from', '-'],
    ],
    paths.join('\0'),
  )
}

const tar = async (args: readonly string[], input = ''): Promise<string[]> => {
  const child = spawnProcess('env', ['LC_ALL=C', 'tar', ...args], { stdio: ['pipe', 'ignore', 'pipe'] })
  child.stdin.on('error', () => undefined).end(input)
  const [output, [code]] = await Promise.all([text(child.stderr), once(child, 'close') as Promise<[number]>])
  const lines = output.split('\n').filter((line) => line !== '' && !line.includes('Exiting with failure status'))
  // 1: a file changed or disappeared while it was read. What was deleted just before is no failure either.
  const isDeleted = lines.length > 0 && lines.every((line) => /: Cannot stat: No such file or directory$/.test(line))
  if (code > 1 && !isDeleted) throw new StartError(`tar failed: ${lines.slice(-3).join('; ') || `exit code ${code}`}`)
  return lines
}
