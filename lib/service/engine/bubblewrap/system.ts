import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync } from 'node:fs'
import { chmod, lchown, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { System } from '../engine.ts'
import { machinePython } from '../python.ts'
import { isBelow, machineFolders } from './machine-folders.ts'
import { privatePaths } from './private-paths.ts'
import { publicNamesForUsers } from './public-etc.ts'
import { asOwnUser, hasOwnUsers, type Overlay, systemPlace, takeOwnUsers } from './users.ts'

const overlaidFolders = () =>
  machineFolders.filter(
    (path) => existsSync(path) && !lstatSync(path).isSymbolicLink() && lstatSync(path).isDirectory(),
  )

/** The mounts of a system, `/` first: what the devbox changes over what others changed over what the machine has. */
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
        ...(path === '' ? [] : [{ firstUid: 0, folder: path, isPublic: hasOwnUsers() || isBelow(base, path) }]),
      ],
    }
  })

const nameOf = (path: string) => path.slice(1).replaceAll('/', '-') || 'root'

/** Makes the folders that hold what the devbox changes. A number other than that of the last start is refused. */
export const giveSystemTo = async (ownUid: number | undefined, system: System): Promise<void> => {
  const note = join(system.own, 'first-uid')
  const before = await readFile(note, 'utf8').catch(() => undefined)
  const uid = ownUid ?? process.geteuid?.() ?? 0
  if (before === String(uid)) return
  if (before !== undefined) throw new Error('The users of its system belong to another devbox by now')
  for (const { upper, work } of overlaysOf(system)) {
    await mkdir(upper, { recursive: true, mode: 0o755 })
    await chmod(upper, 0o755)
    if (ownUid !== undefined) await lchown(upper, uid, uid)
    await mkdir(work, { recursive: true, mode: 0o700 })
  }
  await writeFile(note, String(uid))
}

/** Says where what devboxes change of their systems is kept: not every file system can hold it. */
export const keepSystemsBelow = (folder: string): void => {
  place = folder
}
let place = tmpdir()

/** Why devboxes cannot have a system of their own here, found out by making one; undefined where they can. */
export const systemProblem = (): Promise<string | undefined> => {
  problem ??= probe()
  return problem
}
let problem: Promise<string | undefined> | undefined

export interface Machine {
  /** Whether devboxes have systems of their own. */
  hasSystem: boolean
  /** Whether those have users beside root: of a service that is not root itself they have not. */
  hasUsers: boolean
}

export const machine = async (): Promise<Machine> => {
  const hasSystem = (await systemProblem()) === undefined
  return { hasSystem, hasUsers: hasSystem && hasOwnUsers() }
}

const probe = async (): Promise<string | undefined> => {
  if (process.getuid?.() === 0 && !hasOwnUsers()) return 'the service may not give devboxes users of their own'
  await mkdir(place, { recursive: true, mode: 0o700 })
  const folder = await mkdtemp(join(place, 'new-probe-'))
  const own = hasOwnUsers() ? takeOwnUsers(folder) : undefined
  try {
    const system = { base: join(folder, 'base'), layers: [], own: join(folder, 'own') }
    for (const path of [...overlaidFolders(), '/filled/folder']) mkdirSync(join(system.base, path), { recursive: true })
    await giveSystemTo(own?.uid, system)
    const made = `${systemPlace}/usr/devdeck-probe`
    // Not every file system can note that a folder hides the one below it.
    const hides = `cd ${systemPlace} && rm -r filled && mkdir filled && rmdir filled`
    const write = ['/bin/sh', '-c', `${hides} && touch ${made}${own ? ` && chown 1:1 ${made}` : ''}`]
    const { file, args } = asOwnUser(own?.uid, () => write, overlaysOf(system))
    await promisify(execFile)(file, args, { env: { PATH: '/usr/bin:/bin', NODE_ENV: 'production' }, cwd: '/' })
    return undefined
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string }
    return `the kernel refuses an overlay over the machine's folders (${stderr?.trim() || message})`
  } finally {
    own?.release()
    await execFileOf('/bin/chmod', ['-R', 'u+rwx', folder]).catch(() => undefined)
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Makes what a system of a devbox's own starts with besides the machine's programs, below `folder`: a root with the usual
 * folders, and a copy of what is public in /etc. Its name is a checksum of the contents, so a change makes another one.
 */
export const makeSystemBase = async (folder: string): Promise<string> => {
  const names = publicNamesForUsers()
  const accounts = accountFiles()
  const links = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'].filter(
    (name) => existsSync(`/${name}`) && lstatSync(`/${name}`).isSymbolicLink(),
  )
  const python = (await machinePython())?.folders ?? []
  const contents = JSON.stringify([
    version,
    python,
    await listOf(names.map((name) => join('/etc', name))),
    accounts,
    links.map((name) => readlinkSync(`/${name}`)),
    overlaidFolders(),
    hasOwnUsers(),
  ])
  const base = join(folder, `base-${createHash('sha256').update(contents).digest('hex').slice(0, 16)}`)
  if (existsSync(base)) return base
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const unfinished = await mkdtemp(join(folder, 'new-base-'))
  for (const [path, mode] of rootFolders) {
    await mkdir(join(unfinished, path), { recursive: true, mode })
    await chmod(join(unfinished, path), mode)
  }
  for (const path of python) await makeFolders(join(unfinished, path))
  for (const path of overlaidFolders()) {
    await makeFolders(join(unfinished, path))
    if (!hasOwnUsers()) await execFileOf('/bin/bash', ['-c', copyFolders, 'devdeck', path, join(unfinished, path)])
  }
  for (const lock of ['lock', 'lock-frontend', 'triggers/Lock'].map((name) => join('/var/lib/dpkg', name))) {
    if (!existsSync(lock)) continue
    await makeFolders(join(unfinished, dirname(lock)))
    // The machine's own, which not everybody may read, could not be locked.
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
  // Another one has made it meanwhile, which holds the same.
  await rename(unfinished, base).catch(() => rm(unfinished, { recursive: true, force: true }))
  return base
}

/** Every file below these paths with its mode, owner and time of change. */
const listOf = async (paths: readonly string[]): Promise<string[]> => {
  const { stdout } = await execFileOf('/usr/bin/find', [...paths, '-printf', '%p %M %U %G %s %C@\\n'], {
    maxBuffer: 2 ** 26,
    // A file that was removed meanwhile.
  }).catch((error: { stdout: string }) => error)
  return stdout.split('\n').sort()
}

const execFileOf = promisify(execFile)

/**
 * Copies folders without their files, except the files dpkg writes to in place. Folders not everybody may read stay the
 * machine's; one of them may be the data folder, with the copy itself.
 */
const copyFolders = `from=$1 to=$2
cd -- "$from" && find . -mindepth 1 -xdev -type d \\( ! -perm -005 -prune -o -print0 \\) 2>/dev/null | (cd -- "$to" && xargs -0r mkdir -p --)
if [[ $from = /var/lib/dpkg ]]; then find . -maxdepth 2 -type f ! -path './info/*' -exec cp --parents -t "$to" -- {} + 2>/dev/null; fi
true`

/** Whatever the service keeps from other users, these they may read. */
const makeFolders = async (path: string): Promise<void> => {
  if (existsSync(path)) return
  await makeFolders(dirname(path))
  await mkdir(path)
  await chmod(path, 0o755)
}

/** To be raised when the same machine would get another base. */
const version = 2

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

/** The accounts of programs that this machine has, and none of a person's: the first one a task makes is 1000. */
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
