import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { childrenOf, isGone, signal, waitUntil } from '#lib/service/runtime/processes.ts'
import {
  type Box,
  baseEnvironment,
  type Command,
  connectLocally,
  defaultUmask,
  type Launch,
  markers,
  type Sandbox,
  type Site,
  spawnIn,
} from './sandbox.ts'

const bwrap = '/usr/bin/bwrap'
const nsenter = '/usr/bin/nsenter'
const unshare = '/usr/bin/unshare'
const home = '/home/user'
const tmp = '/tmp'
const run = '/run/devdeck'

/**
 * One set of namespaces per devbox (user, mount, pid, ipc, uts), held by a first process that does nothing but wait.
 * Commands join by nsenter, so they see one another, and the kernel ends them all with the first process. The network
 * is the host's.
 */
export const bubblewrap: Sandbox & { problem(): Promise<string | undefined> } = {
  isolation: 'bubblewrap',

  async start(site) {
    // The first process ends when this pipe closes, and --die-with-parent is there for a bwrap that was left alone.
    const holder = spawnIn(
      { ...asRoot(boxArguments(site)), env: { PATH: '/usr/bin:/bin', ...markers(site) }, cwd: '/' },
      {
        stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
      },
    )
    const [, , , , passwd, group] = holder.stdio as (Writable | null)[]
    passwd?.end(withUser(readFileSync('/etc/passwd', 'utf8'), `user:x:1000:1000::${home}:/bin/bash`))
    group?.end(withUser(readFileSync('/etc/group', 'utf8'), 'user:x:1000:'))
    const init = await readInitPid(holder)
    return runningBox(site, holder, init)
  },

  /** Why this sandbox cannot be used on this machine, found out by using it. */
  async problem() {
    for (const file of [bwrap, nsenter, unshare]) if (!existsSync(file)) return `${file} is missing`
    const folder = await mkdtemp(join(tmpdir(), 'devdeck-probe-'))
    try {
      const box = await this.start({
        devboxId: 'probe',
        serviceId: 'probe',
        hostname: 'probe',
        home: folder,
        tmp: folder,
        run: folder,
        limits: { cpuCores: 1, memoryBytes: 2 ** 30, diskBytes: 2 ** 30 },
        network: 'host',
      })
      const command = { argv: ['/bin/bash', '-c', 'test "$HOME" = "$PWD" && touch probe'], env: {} }
      const child = spawnIn(box.launch(command), { stdio: ['ignore', 'ignore', 'pipe'], detached: true })
      const words = text(child.stderr)
      const [code] = await once(child, 'exit')
      await box.stop()
      return code === 0 ? undefined : `a first command failed: ${(await words).trim() || code}`
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}

const runningBox = (site: Site, holder: ChildProcess, init: number): Box => {
  const ended = new Promise<void>((resolve) => holder.once('exit', () => resolve()))
  return {
    home,
    tmp,
    run,
    ended,
    launch: (command) => enter(site, { holder: holder.pid ?? 0, init }, command),
    leader: (spawnedPid) => childrenOf(spawnedPid)[0],
    notEnforced: [],
    outOfMemoryKills: () => 0,
    connect: connectLocally,
    async stop() {
      if (holder.exitCode === null && holder.signalCode === null) {
        holder.stdin?.destroy()
        // Its end is the end of the whole pid namespace.
        if (childrenOf(holder.pid ?? 0).includes(init)) signal(init, 'SIGKILL')
        else holder.kill('SIGKILL')
      }
      await ended
      await waitUntil(() => isGone(init))
    },
  }
}

const isRoot = process.getuid?.() === 0

// A user namespace's own root alone may join what belongs to it, and bwrap makes two, one in the other, of which only
// the inner one can be named from outside. So without root bwrap runs in one more, and who enters comes through that.
const asRoot = (args: string[]) =>
  isRoot ? { file: bwrap, args } : { file: unshare, args: ['--user', '--map-root-user', '--', bwrap, ...args] }

/** Root is empty but for what is named here: neither the service's data nor another devbox's home is visible. */
const boxArguments = (site: Site): string[] => [
  ...['--unshare-user', '--uid', '1000', '--gid', '1000', '--unshare-pid', '--unshare-ipc', '--unshare-uts'],
  ...['--hostname', site.hostname, '--die-with-parent', '--as-pid-1'],
  ...['usr', 'etc', 'opt', 'bin', 'sbin', 'lib', 'lib32', 'lib64'].flatMap(systemFolder),
  ...secretFiles
    .filter(existsSync)
    .flatMap((file) => (lstatSync(file).isDirectory() ? ['--tmpfs', file] : ['--ro-bind', '/dev/null', file])),
  // Name resolution often points there.
  ...['--ro-bind-try', '/run/systemd/resolve', '/run/systemd/resolve'],
  ...['--proc', '/proc', '--dev', '/dev'],
  ...['--bind', site.tmp, tmp, '--symlink', tmp, '/var/tmp'],
  ...['--bind', site.home, home],
  ...['--bind', site.run, run],
  ...['--ro-bind-data', '4', '/etc/passwd', '--ro-bind-data', '5', '/etc/group'],
  ...['--remount-ro', '/', '--info-fd', '3'],
  // It reaps what is orphaned in the devbox; as process 1 it takes no signal from inside.
  ...['/bin/bash', '-c', 'trap "" HUP INT TERM; echo ready; exec >/dev/null 2>&1; read -r _'],
]

const systemFolder = (name: string): string[] => {
  const path = `/${name}`
  if (!existsSync(path)) return []
  return lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
}

// Inside, the user owns what root owns outside when the service runs as root.
const secretFiles = [
  '/etc/shadow',
  '/etc/shadow-',
  '/etc/gshadow',
  '/etc/gshadow-',
  '/etc/sudoers',
  '/etc/sudoers.d',
  '/etc/ssh',
  '/etc/ssl/private',
]

/** The host's pid of the box's first process, once the box is complete: that process then says so. */
const readInitPid = async (holder: ChildProcess): Promise<number> => {
  const complaint = text(holder.stderr)
  const stdout = holder.stdout as Readable
  const [info] = await Promise.all([
    text(holder.stdio[3] as Readable),
    Promise.race([once(stdout, 'data'), once(stdout, 'end')]),
  ])
  const pid = /"child-pid":\s*(\d+)/.exec(info)?.[1]
  if (pid !== undefined && holder.exitCode === null && !isGone(Number(pid))) return Number(pid)
  holder.kill('SIGKILL')
  throw new Error((await complaint).trim() || 'bwrap did not start')
}

/** The account file with `line` in place of whoever has that name or number. */
const withUser = (file: string, line: string): string => {
  const others = file
    .split('\n')
    .filter((each) => each !== '' && !each.startsWith('user:') && each.split(':')[2] !== '1000')
  return `${[...others, line].join('\n')}\n`
}

const text = async (stream: Readable | null): Promise<string> => {
  let all = ''
  try {
    for await (const chunk of stream ?? []) all += chunk
  } catch {
    // A broken pipe says no more than an ended one.
  }
  return all
}

const prefix = 'DEVDECK_SET_'

// nsenter itself runs outside the devbox, so it must not see the devbox's variables: LD_PRELOAD and its kind would act
// out there. They travel under another name and get their own in the first process inside.
const takeEnvironment = `for _devdeck in \${!${prefix}@}; do export "\${_devdeck#${prefix}}=\${!_devdeck}"; unset "$_devdeck"; done 2>/dev/null; unset _devdeck; ${defaultUmask}; cd; exec "$@"`

const enter = (site: Site, { holder, init }: { holder: number; init: number }, { argv, env, tty }: Command): Launch => {
  const all = { ...baseEnvironment(site, { home, tmp }), ...env }
  return {
    file: nsenter,
    args: [
      ...(isRoot ? [] : [`--user=/proc/${holder}/ns/user`, '--preserve-credentials', '--', nsenter]),
      ...['-t', String(init), '-U', '--preserve-credentials', '-m', '-p', '-i', '-u', '--'],
      // A command without a terminal leads its own session, so that its process group has a number inside as well.
      ...(tty ? [] : ['/usr/bin/setsid']),
      ...['/bin/bash', '-c', takeEnvironment, 'devbox', ...argv],
    ],
    env: {
      PATH: '/usr/bin:/bin',
      ...markers(site),
      ...Object.fromEntries(Object.entries(all).map(([name, value]) => [prefix + name, value])),
    },
    cwd: '/',
  }
}
