import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { type Engine, type Launch, markers, type Sandbox, type SandboxSpec, spawnIn, userOf } from '../engine.ts'
import { type Enforcement, enforceLimits } from '../limits.ts'
import { createConnector } from '../network/connector.ts'
import type { Ground, Outbound } from '../network/ground.ts'
import { openOutbound } from '../network/outbound.ts'
import { childrenOf, isGone, signal, waitUntil } from '../processes.ts'
import { machinePython } from '../python.ts'
import { bashrcInside, boxCommand, bwrap, homeOf, run, tmp } from './arguments.ts'
import { enter, enterNetwork, type Namespaces, nsenter, perl, throughHolder } from './enter.ts'
import { masksFor } from './masks.ts'
import { isPrivileged } from './privileges.ts'
import { seccompFilter } from './seccomp.ts'
import { giveSystemTo } from './system.ts'
import { giveDiskTo, hasOwnUsers, takeOwnUser, takeOwnUsers, unshare } from './users.ts'

/**
 * One set of namespaces per devbox (user, mount, pid, ipc, uts and network), held by a first process that does nothing
 * but wait. Commands join it, so they see one another, and the kernel ends them all with the first process.
 */
export const bubblewrap: Engine & { problem(): Promise<string | undefined> } = {
  isolation: 'bubblewrap',

  start: async (spec, tell) => startSandbox(spec, await masksFor(spec), tell),

  /** Why this sandbox cannot be used on this machine, found out by using it. */
  async problem() {
    for (const file of [bwrap, nsenter, unshare, perl]) if (!existsSync(file)) return `${file} is missing`
    const folder = await mkdtemp(join(tmpdir(), 'devdeck-probe-'))
    try {
      // Without masks: finding them takes longer than the rest, and the probe reads nothing.
      const sandbox = await startSandbox(
        {
          devboxId: 'probe',
          // Several services may be probing.
          serviceId: basename(folder),
          hostname: 'probe',
          dataDir: folder,
          home: folder,
          tmp: folder,
          run: folder,
          limits: { cpuCores: 1, memoryBytes: 2 ** 30, diskBytes: 2 ** 30 },
          network: 'none',
        },
        [],
      )
      const command = { argv: ['/bin/bash', '-c', 'test "$HOME" = "$PWD" && touch probe'], env: {} }
      const child = spawnIn(sandbox.launch(command), { stdio: ['ignore', 'ignore', 'pipe'], detached: true })
      const words = text(child.stderr)
      const [code] = await once(child, 'exit')
      await sandbox.stop()
      return code === 0 ? undefined : `a first command failed: ${(await words).trim() || code}`
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}

const startSandbox = async (
  spec: SandboxSpec,
  masks: readonly string[],
  tell: (sentence: string) => void = () => undefined,
): Promise<Sandbox> => {
  const python = spec.root === undefined ? undefined : await machinePython()
  const enforcement = await enforceLimits(spec, 'bubblewrap', tell)
  const take = spec.system ? takeOwnUsers : takeOwnUser
  const user = hasOwnUsers() ? take(spec.devboxId) : undefined
  const end = async () => {
    await enforcement.end()
    user?.release()
  }
  let holder: ChildProcess | undefined
  try {
    if (user) await giveDiskTo(user.uid, spec)
    if (spec.system) await giveSystemTo(user?.uid, spec.system)
    // The first process ends when this pipe closes, and --die-with-parent is there for a bwrap that was left alone.
    // Detached, it has no terminal of the operator's that a devbox might write to, and takes no Ctrl-C from there.
    holder = spawnIn(
      {
        ...boxCommand(spec, user?.uid, masks, python),
        env: { PATH: '/usr/bin:/bin', ...markers(spec) },
        cwd: '/',
        joins: enforcement.launch.joins,
      },
      { stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'], detached: true },
    )
    const [, , , , passwd, group, filter] = holder.stdio as (Writable | null)[]
    const { uid, name } = userOf(spec)
    for (const pipe of [passwd, group, filter]) pipe?.on('error', () => undefined)
    passwd?.end(withUser(readFileSync('/etc/passwd', 'utf8'), name, uid, `:${homeOf(spec)}:/bin/bash`))
    group?.end(withUser(readFileSync('/etc/group', 'utf8'), name, uid, ''))
    filter?.end(seccompFilter())
    const init = await readInitPid(holder)
    for (const pid of [holder.pid ?? 0, init]) spareFromOutOfMemory(pid)
    const namespaces = { holder: holder.pid ?? 0, init, hasOwnUser: user !== undefined }
    const ground = groundOf(spec, namespaces, enforcement)
    const outbound = await openOutbound(ground, spec.network, spec.privateNetwork ?? false, tell)
    return runningSandbox(spec, { ...enforcement, end }, holder, { ...namespaces, uid: user?.uid }, outbound)
  } catch (error) {
    holder?.kill('SIGKILL')
    await end()
    throw error
  }
}

const runningSandbox = (
  spec: SandboxSpec,
  enforcement: Enforcement,
  holder: ChildProcess,
  namespaces: Namespaces & { uid: number | undefined },
  outbound: Outbound,
): Sandbox => {
  const { init, uid } = namespaces
  const connector = createConnector((command) => enterNetwork(spec, namespaces, command))
  const gone = once(holder, 'exit')
  const cleanUp = async () => {
    if (holder.exitCode === null && holder.signalCode === null) await gone
    outbound.end()
    connector.close()
    await enforcement.end()
  }
  const cleaned = cleanUp()
  // A failure is reported by `stop`, which cleans up again.
  const ended = cleaned.catch(() => undefined)
  return {
    home: homeOf(spec),
    tmp,
    run,
    bashrc: bashrcInside,
    ended,
    ...(uid !== undefined && { uid }),
    launch: (command) => ({ ...enforcement.launch, ...enter(spec, namespaces, outbound.environment, command) }),
    ptmx: `/proc/${init}/root/dev/pts/ptmx`,
    leader: (spawnedPid) => childrenOf(spawnedPid)[0],
    notEnforced: [
      ...(outbound.notEnforced === undefined ? [] : [outbound.notEnforced]),
      ...(seccompFilter() ? [] : [`System calls: not filtered on ${process.arch}`]),
      ...(uid === undefined ? ['User: outside of the devbox that of the service'] : []),
      ...enforcement.notEnforced,
    ],
    outOfMemoryKills: enforcement.outOfMemoryKills,
    connect: connector.connect,
    async stop() {
      if (holder.exitCode === null && holder.signalCode === null) {
        holder.stdin?.destroy()
        // Its end is the end of the whole pid namespace.
        if (childrenOf(holder.pid ?? 0).includes(init)) signal(init, 'SIGKILL')
        else holder.kill('SIGKILL')
      }
      // Not beside the first: the devbox may be started again as soon as this is over.
      await cleaned.catch(cleanUp)
      await waitUntil(() => isGone(init))
    },
  }
}

/** When the devbox's memory is used up, the kernel is to kill what used it, not what holds the devbox. */
const spareFromOutOfMemory = (pid: number) => {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, isPrivileged ? '-500' : '0')
  } catch {
    // It has ended, or this user's processes may not be spared; then it is as likely as any other of its size.
  }
}

/** The host's pid of the sandbox's first process, which prints a line once the sandbox is complete. */
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

/** The account file with the devbox's user in place of users with the same name or number. */
const withUser = (file: string, name: string, id: number, rest: string): string => {
  const others = file
    .split('\n')
    .filter((each) => each !== '' && !each.startsWith(`${name}:`) && each.split(':')[2] !== String(id))
  return `${[...others, rest === '' ? `${name}:x:${id}:` : `${name}:x:${id}:${id}:${rest}`].join('\n')}\n`
}

const text = async (stream: Readable | null): Promise<string> => {
  let all = ''
  try {
    for await (const chunk of stream ?? []) all += chunk
  } catch {
    // A broken pipe is read like one that has ended.
  }
  return all
}

const groundOf = (spec: SandboxSpec, namespaces: Namespaces, { launch: { joins } }: Enforcement): Ground => {
  const command = ([file = '', ...args]: readonly string[]): Launch => ({
    file,
    args,
    env: { PATH: '/usr/bin:/bin', ...markers(spec) },
    cwd: '/',
    joins,
  })
  const toRights = throughHolder(namespaces).slice(0, -1)
  return {
    onNetwork: (argv) => enterNetwork(spec, namespaces, argv),
    beside: (argv) => command([...(toRights.length > 0 ? [nsenter, ...toRights] : []), ...argv]),
    outside: command,
    spare: spareFromOutOfMemory,
    path: `/proc/${namespaces.init}/ns/net`,
  }
}
