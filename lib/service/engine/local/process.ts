import type { ChildProcess } from 'node:child_process'
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import type { BoxProcess, Command } from '../box.ts'
import { signal, waitForExit, waitUntil } from '../processes.ts'
import { type Launch, type LocalCommand, spawnIn } from './launch.ts'
import { openPipes } from './pipes.ts'

export interface Launcher {
  launch(command: LocalCommand): Launch
  /** Host pid of the command itself, given the spawned pid; undefined after it exits. */
  leader(spawnedPid: number): number | undefined
}

export const startProcess = async (launcher: Launcher, command: Command): Promise<BoxProcess> => {
  const pipes = await openPipes(command.stdin ? ['read', 'read', 'write'] : ['read', 'read'])
  const [stdout, stderr, stdin] = pipes.map(({ ours }, i) => {
    const socket = new Socket({ fd: ours, readable: i < 2, writable: i === 2 })
    return socket.on('error', () => undefined)
  }) as [Socket, Socket, Socket?]
  try {
    const [out, err, input] = pipes.map(({ theirs }) => theirs) as [number, number, number?]
    const child = spawnIn(launcher.launch(command), { detached: true, stdio: [input ?? 'ignore', out, err] })
    return { stdin, stdout, stderr, exited: waitForExit(child), kill: killer(child, launcher) }
  } catch (error) {
    for (const socket of [stdout, stderr, stdin]) socket?.destroy()
    throw error
  } finally {
    for (const { theirs } of pipes) closeSync(theirs)
  }
}

const killer =
  (child: ChildProcess, { leader }: Launcher): BoxProcess['kill'] =>
  async (name, target) => {
    const spawned = child.pid ?? 0
    // While both are null the pid is valid: Node sets one in the same turn in which it reaps the child.
    const hasEnded = () => child.exitCode !== null || child.signalCode !== null
    let pid: number | undefined
    await waitUntil(() => {
      pid = hasEnded() ? undefined : leader(spawned)
      return hasEnded() || pid !== undefined
    })
    if (pid === undefined || hasEnded()) return false
    const reached = target === 'group' && signal(-pid, name)
    if (!reached || name === 'SIGKILL') signal(pid, name)
    signal(spawned, 'SIGCONT')
    return true
  }
