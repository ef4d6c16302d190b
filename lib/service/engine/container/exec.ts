import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { BoxProcess, Command } from '../box.ts'
import type { EngineApi } from './engine-api.ts'
import { splitStreams } from './exec-streams.ts'
import { runCommandPath } from './install.ts'

export interface ExecTarget {
  api: EngineApi
  containerId: string
  cwd: string
  env: Readonly<Record<string, string>>
  user: string | undefined
  /** Open connections, closed when the engine is lost. */
  sockets: Set<Socket>
  /** Aborts when the container has ended. */
  signal: AbortSignal
  /** Resolves when the container has ended. */
  ended: Promise<unknown>
  /** Resolves with the exit status that the engine reports, or never. */
  exitOf(execId: string): Promise<number>
  countKills(kills: number): void
}

export const lostStatus = 137
// The engine may report an exit before its last output has arrived, the later the busier it is.
const lastOutputMs = 200
/** How long to wait for the mark after a command's output, which a killed command may never print. */
const unmarkedOutputMs = 5000

export const createExec = async (
  { api, containerId, cwd, env, user, sockets, signal }: ExecTarget,
  command: Command & { tty?: boolean },
): Promise<{ id: string; socket: Socket }> => {
  const { Id: id } = await api.json<{ Id: string }>('POST', `/containers/${containerId}/exec`, {
    signal,
    body: {
      AttachStdin: command.stdin ?? false,
      AttachStdout: true,
      AttachStderr: true,
      Tty: command.tty ?? false,
      Cmd: command.argv,
      Env: Object.entries({ ...env, ...command.env }).map(([name, value]) => `${name}=${value}`),
      WorkingDir: command.cwd ?? cwd,
      ...((command.user ?? user) !== undefined && { User: command.user ?? user }),
    },
  })
  const socket = await api.hijack(`/exec/${id}/start`, { Detach: false, Tty: command.tty ?? false }, signal)
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
  return { id, socket }
}

/** Resolves with the exit status of an ended exec; undefined while it runs. */
export const inspectExec = async (api: EngineApi, id: string): Promise<number | undefined> => {
  const { Running, ExitCode } = await api.json<{ Running: boolean; ExitCode: number | null }>('GET', `/exec/${id}/json`)
  return Running ? undefined : (ExitCode ?? lostStatus)
}

const closed = (socket: Socket) =>
  new Promise<void>((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve())))

/** The exit status as the engine reports it, 137 if it can't. */
export const exitStatusOf = async (
  { api, ended, exitOf }: ExecTarget,
  id: string,
  socket: Socket,
  outputMs = lastOutputMs,
): Promise<number> => {
  const reported = exitOf(id).then(async (status) => {
    do await Promise.race([closed(socket), delay(outputMs, undefined, { ref: false })])
    while (socket.isPaused() && !socket.closed)
    return status
  })
  const inspected = closed(socket)
    .then(() => inspectExec(api, id))
    .then(
      (status) => status ?? reported,
      () => lostStatus,
    )
  return Promise.race([reported, inspected, ended.then(() => lostStatus)])
}

export const startProcess = async (target: ExecTarget, command: Command): Promise<BoxProcess> => {
  const mark = randomBytes(16).toString('hex')
  const { id, socket } = await createExec(target, {
    ...command,
    argv: ['/bin/sh', runCommandPath, mark, ...command.argv],
  })
  const { stdout, stderr, firstLine, marked } = splitStreams(socket, mark)
  const line = await firstLine
  const [, group, pid] = /^(\d+) (\d+)$/.exec(line ?? '') ?? []
  if (group === undefined || pid === undefined) {
    socket.destroy()
    // Rejects if the engine was lost.
    if (line === undefined) await inspectExec(target.api, id)
    throw new Error(line?.trim() || 'The command could not be started')
  }
  let hasExited = false
  const statusFromMark = marked.then((text) => {
    const [status, kills] = text.split(' ').map(Number)
    if (kills) target.countKills(kills)
    return status ?? lostStatus
  })
  const exited = Promise.race([statusFromMark, exitStatusOf(target, id, socket, unmarkedOutputMs)]).then((status) => {
    hasExited = true
    return status
  })
  return {
    stdin: command.stdin ? socket : undefined,
    stdout,
    stderr,
    exited,
    kill: async (signal, kind) =>
      !hasExited && killInside(target, signal, kind === 'group' ? `-${group}` : pid, command.user),
  }
}

/** False if there is no such process. */
export const killInside = async (target: ExecTarget, signal: NodeJS.Signals, pid: string, user: string | undefined) => {
  const argv = ['/bin/sh', '-c', 'kill "$@" 2>/dev/null', 'sh', `-${signal.slice(3)}`, pid]
  // Fails in a container that has ended.
  const result = await runInside(target, argv, user).catch(() => undefined)
  return result?.status === 0
}

/** Runs a short command of the service. Its output is not limited. */
export const runInside = async (target: ExecTarget, argv: readonly string[], user?: string) => {
  const { id, socket } = await createExec(target, { argv, env: {}, cwd: '/', ...(user !== undefined && { user }) })
  const { stdout, stderr } = splitStreams(socket)
  stderr.resume()
  let output = ''
  for await (const chunk of stdout.setEncoding('utf8')) output += chunk
  return { output, status: await exitStatusOf(target, id, socket) }
}
