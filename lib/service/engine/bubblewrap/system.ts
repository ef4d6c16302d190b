import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync } from 'node:fs'
import { chmod, lchown, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { System } from '../box.ts'
import { isBelow, machineFolders, privatePaths, publicNamesForUsers } from './host-files.ts'
import { allocateUsers, hasDedicatedUsers, type Overlay, runAsUser, systemMount } from './users.ts'

const overlaidFolders = () =>
  machineFolders.filter(
    (path) => existsSync(path) && !lstatSync(path).isSymbolicLink() && lstatSync(path).isDirectory(),
  )

/** Overlays of a system, `/` first: the devbox's changes over other layers over the host's files. */
export const overlaysOf = ({ base, layers, own }: System): Overlay[] =>
  ['', ...overlaidFolders()].map((path) => {
    const name = nameOf(path)
    const below = layers.filter(({ folder }) => existsSync(join(folder, 'upper', name))).reverse()
    return {
      path,
      upper: join(own, 'upper', name),
      work: join(own, 'work', name),
      layers: [
        ...below.map(({ firstUid, folder }) => ({ firstUid, folder: join(folder, 'upper', name) })),
        { firstUid: 0, folder: join(base, path) },
        ...(path === '' ? [] : [{ firstUid: 0, folder: path, isPublic: hasDedicatedUsers() || isBelow(base, path) }]),
      ],
    }
  })

const nameOf = (path: string) => path.slice(1).replaceAll('/', '-') || 'root'

/** Creates the folders for the devbox's changes. Throws if the first uid differs from the last start. */
export const prepareSystem = async (ownUid: number | undefined, system: System): Promise<void> => {
  const note = join(system.own, 'first-uid')
  const before = await readFile(note, 'utf8').catch(() => undefined)
  const uid = ownUid ?? process.geteuid?.() ?? 0
  if (before === String(uid)) return
  if (before !== undefined) throw new Error("The uid range of the devbox's file system is used by another devbox")
  for (const { upper, work } of overlaysOf(system)) {
    await mkdir(upper, { recursive: true, mode: 0o755 })
    await chmod(upper, 0o755)
    if (ownUid !== undefined) await lchown(upper, uid, uid)
    await mkdir(work, { recursive: true, mode: 0o700 })
  }
  await writeFile(note, String(uid))
}

export const setSystemsFolder = (folder: string): void => {
  systemsFolder = folder
}
let systemsFolder = tmpdir()

/** Tries an overlay and returns why it can't be used; undefined if it works. Cached. */
export const systemProblem = (): Promise<string | undefined> => {
  problem ??= probe()
  return problem
}
let problem: Promise<string | undefined> | undefined

export interface Machine {
  hasSystem: boolean
  /** Whether such a system has users besides root; requires a service that runs as root. */
  hasUsers: boolean
}

export const machine = async (): Promise<Machine> => {
  const hasSystem = (await systemProblem()) === undefined
  return { hasSystem, hasUsers: hasSystem && hasDedicatedUsers() }
}

const probe = async (): Promise<string | undefined> => {
  if (process.getuid?.() === 0 && !hasDedicatedUsers()) return "the service can't run devboxes as dedicated users"
  await mkdir(systemsFolder, { recursive: true, mode: 0o700 })
  const folder = await mkdtemp(join(systemsFolder, 'new-probe-'))
  const own = hasDedicatedUsers() ? allocateUsers(folder, 'range') : undefined
  try {
    const system = { base: join(folder, 'base'), layers: [], own: join(folder, 'own') }
    for (const path of [...overlaidFolders(), '/filled/folder']) mkdirSync(join(system.base, path), { recursive: true })
    await prepareSystem(own?.uid, system)
    const made = `${systemMount}/usr/devdeck-probe`
    const hides = `cd ${systemMount} && rm -r filled && mkdir filled && rmdir filled`
    const write = ['/bin/sh', '-c', `${hides} && touch ${made}${own ? ` && chown 1:1 ${made}` : ''}`]
    const { file, args } = runAsUser(own?.uid, () => write, overlaysOf(system))
    await promisify(execFile)(file, args, { env: { PATH: '/usr/bin:/bin', NODE_ENV: 'production' }, cwd: '/' })
    return undefined
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string }
    return `the kernel rejects an overlay over the host's folders (${stderr?.trim() || message})`
  } finally {
    own?.release()
    await execFileOf('/bin/chmod', ['-R', 'u+rwx', folder]).catch(() => undefined)
    await rm(folder, { recursive: true, force: true })
  }
}

/** Creates the usual top-level folders and a copy of the public /etc. The name is a checksum of the contents. */
export const makeSystemBase = async (folder: string): Promise<string> => {
  const names = publicNamesForUsers()
  const accounts = accountFiles()
  const links = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'].filter(
    (name) => existsSync(`/${name}`) && lstatSync(`/${name}`).isSymbolicLink(),
  )
  const contents = JSON.stringify([
    version,
    await listOf(names.map((name) => join('/etc', name))),
    accounts,
    links.map((name) => readlinkSync(`/${name}`)),
    overlaidFolders(),
    hasDedicatedUsers(),
  ])
  const base = join(folder, `base-${createHash('sha256').update(contents).digest('hex').slice(0, 16)}`)
  if (existsSync(base)) return base
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const unfinished = await mkdtemp(join(folder, 'new-base-'))
  for (const [path, mode] of rootFolders) {
    await mkdir(join(unfinished, path), { recursive: true, mode })
    await chmod(join(unfinished, path), mode)
  }
  for (const path of overlaidFolders()) {
    await makeFolders(join(unfinished, path))
    if (!hasDedicatedUsers())
      await execFileOf('/bin/bash', ['-c', copyFolders, 'devdeck', path, join(unfinished, path)])
  }
  for (const lock of ['lock', 'lock-frontend', 'triggers/Lock'].map((name) => join('/var/lib/dpkg', name))) {
    if (!existsSync(lock)) continue
    await makeFolders(join(unfinished, dirname(lock)))
    // The host's lock files aren't readable by everyone and couldn't be locked.
    await writeFile(join(unfinished, lock), '', { mode: 0o640 })
  }
  for (const name of links) await symlink(readlinkSync(`/${name}`), join(unfinished, name))
  for (const name of names) {
    await makeFolders(dirname(join(unfinished, 'etc', name)))
    await execFileOf('/bin/cp', ['-a', join('/etc', name), join(unfinished, 'etc', name)]).catch(() => undefined)
  }
  for (const path of await privatePaths([join(unfinished, 'etc')])) await rm(path, { recursive: true, force: true })
  for (const [name, { content, mode }] of Object.entries(accounts)) {
    await writeFile(join(unfinished, 'etc', name), content)
    await chmod(join(unfinished, 'etc', name), mode)
  }
  await chmod(unfinished, 0o755)
  await rename(unfinished, base).catch(() => rm(unfinished, { recursive: true, force: true }))
  return base
}

const listOf = async (paths: readonly string[]): Promise<string[]> => {
  const { stdout } = await execFileOf('/usr/bin/find', [...paths, '-printf', '%p %M %U %G %s %C@\\n'], {
    maxBuffer: 2 ** 26,
  }).catch((error: { stdout: string }) => error)
  return stdout.split('\n').sort()
}

const execFileOf = promisify(execFile)

/** Copies the folder tree without files, except those dpkg writes in place. Skips private folders. */
const copyFolders = `from=$1 to=$2
cd -- "$from" && find . -mindepth 1 -xdev -type d \\( ! -perm -005 -prune -o -print0 \\) 2>/dev/null | (cd -- "$to" && xargs -0r mkdir -p --)
if [[ $from = /var/lib/dpkg ]]; then find . -maxdepth 2 -type f ! -path './info/*' -exec cp --parents -t "$to" -- {} + 2>/dev/null; fi
true`

const makeFolders = async (path: string): Promise<void> => {
  if (existsSync(path)) return
  await makeFolders(dirname(path))
  await mkdir(path)
  await chmod(path, 0o755)
}

const version = 3

const rootFolders: [path: string, mode: number][] = [
  ...['boot', 'dev', 'etc', 'home', 'media', 'mnt', 'opt', 'proc', 'run', 'srv', 'sys', 'usr', 'var'].map(
    (name): [string, number] => [name, 0o755],
  ),
  ['tmp', 0o1777],
  ...['cache', 'cache/apt', 'cache/apt/archives', 'cache/apt/archives/partial', 'lib', 'lib/apt', 'lib/apt/lists'].map(
    (name): [string, number] => [`var/${name}`, 0o755],
  ),
  ...['lib/apt/lists/partial', 'local', 'log', 'log/apt', 'mail', 'opt', 'spool', 'backups', 'lib/misc'].map(
    (name): [string, number] => [`var/${name}`, 0o755],
  ),
  ['var/tmp', 0o1777],
  ['root', 0o700],
]

/** System accounts only, so the first account a task creates gets uid 1000. */
const accountFiles = () => {
  const lines = (file: string) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => {
        const id = Number(line.split(':')[2])
        return line !== '' && (id < 1000 || id === 65534)
      })
  const [passwd, group] = [lines('/etc/passwd'), lines('/etc/group')]
  const nameIn = (line: string) => line.split(':')[0] ?? ''
  const text = (all: readonly string[]) => all.map((line) => `${line}\n`).join('')
  return {
    passwd: { content: text(passwd.map((line) => line.replace(/^([^:]*):[^:]*/, '$1:x'))), mode: 0o644 },
    group: { content: text(group.map((line) => line.replace(/:[^:]*$/, ':'))), mode: 0o644 },
    shadow: { content: text(passwd.map((line) => `${nameIn(line)}:*:20000:0:99999:7:::`)), mode: 0o640 },
    gshadow: { content: text(group.map((line) => `${nameIn(line)}:*::`)), mode: 0o640 },
  }
}
