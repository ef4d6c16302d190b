import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'

/** Debian installs PostgreSQL's programs outside of PATH. */
const folders = globSync('/usr/lib/postgresql/*/bin').concat('/usr/local/bin', '/usr/bin')
const program = (name: string) => folders.map((folder) => join(folder, name)).find((file) => existsSync(file))

export const hasPostgres = program('initdb') !== undefined

/** `postgres` refuses to run as root. */
const nobody = 65534
const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}

export interface TestPostgres {
  /** Folder of its socket. */
  folder: string
  url: string
  /** Ends the connections whose last query was this one. */
  endConnections(query: string): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
  remove(): Promise<void>
}

/** A server in a temporary folder that listens on a Unix socket there. */
export const startPostgres = async (): Promise<TestPostgres> => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-postgres-'))
  const data = join(folder, 'data')
  mkdirSync(data, { mode: 0o700 })
  if (user.uid !== undefined) for (const path of [folder, data]) chownSync(path, user.uid, user.gid)
  chmodSync(folder, 0o755)
  execFileSync(
    program('initdb') ?? '',
    ['-D', data, '-U', 'devdeck', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N'],
    {
      ...user,
      cwd: folder,
      stdio: 'ignore',
    },
  )
  const url = `postgres://devdeck@localhost/postgres?host=${encodeURIComponent(folder)}`
  let server: ReturnType<typeof spawn> | undefined
  const isUp = async () => {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => undefined)
    try {
      await client.connect()
      return true
    } catch {
      return false
    } finally {
      await client.end().catch(() => undefined)
    }
  }
  const start = async () => {
    server = spawn(
      program('postgres') ?? '',
      ['-D', data, '-k', folder, '-c', 'listen_addresses=', '-c', 'fsync=off'],
      {
        ...user,
        cwd: folder,
        stdio: 'ignore',
      },
    )
    while (!(await isUp())) if (server.exitCode !== null) throw new Error(`postgres ended with ${server.exitCode}`)
  }
  const stop = async () => {
    if (!server) return
    const ended = once(server, 'exit')
    // Fast shutdown, which closes the consoles' connections.
    server.kill('SIGINT')
    await ended
    server = undefined
  }
  const endConnections = async (query: string) => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = $1', [query])
    await client.end()
  }
  await start()
  const remove = async () => {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return { folder, url, endConnections, start, stop, remove }
}
