import type { Socket } from 'node:net'
import { constants } from 'node:os'
import type { BoxTerminal, Command, Size, TerminalEvents } from '../box.ts'
import { createExec, type ExecTarget, exitStatusOf, killInside, runInside } from './exec.ts'

// The engine sets the size only after the start, when the program may have read it.
const startInTerminal = 'stty cols "$1" rows "$2" 2>/dev/null; shift 2; echo "$$"; exec "$@"'

// Fields after the name in parentheses: state, parent, group, session, terminal, foreground group.
const foregroundGroup = `read -r stat </proc/"$1"/stat && set -- \${stat##*) } && echo "$6"`

// Shells exit with 128 + n after a command was killed, so only these count as the shell's own.
const fatalSignals = ['SIGKILL', 'SIGHUP', 'SIGSEGV', 'SIGABRT', 'SIGBUS'] as const

const notStarted = 126

export const openContainerTerminal = (
  target: ExecTarget,
  command: Command,
  size: Size,
  events: TerminalEvents,
): BoxTerminal => {
  let socket: Socket | undefined
  let isPaused = false
  // Earlier input would be echoed before the first line.
  let isReady = false
  let stopsInput = false
  let pending: Buffer[] = []
  let pendingBytes = 0
  let wantedSize = size
  let notify: { bytes: number; run: () => void } | undefined
  let hasEnded = false
  const pid = Promise.withResolvers<string | undefined>()

  const send = (bytes: Buffer) =>
    socket?.write(bytes, () => {
      pendingBytes -= bytes.length
      checkPending()
    })
  const checkPending = () => {
    if (!notify || pendingBytes > notify.bytes) return
    const { run } = notify
    notify = undefined
    run()
  }

  // Input waits for a resize, so that what it starts sees the new size.
  let resizes = 0
  let resize: (size: Size) => void = () => undefined
  const sendPending = () => {
    if (isReady && resizes === 0) for (const bytes of pending.splice(0)) send(bytes)
  }

  const run = async (): Promise<number> => {
    const { cols, rows } = size
    const argv = ['/bin/sh', '-c', startInTerminal, 'sh', String(cols), String(rows), ...command.argv]
    const { id, socket: opened } = await createExec(target, { ...command, argv, tty: true, stdin: true })
    socket = opened
    resize = ({ cols, rows }) => {
      resizes++
      void target.api
        .json('POST', `/exec/${id}/resize`, { query: { w: cols, h: rows } })
        .catch(() => undefined)
        .finally(() => {
          resizes--
          sendPending()
        })
    }
    let line: Buffer | undefined = Buffer.alloc(0)
    opened.on('data', (chunk: Buffer) => {
      if (line === undefined) return events.data(chunk)
      line = Buffer.concat([line, chunk])
      const end = line.indexOf('\n')
      if (end === -1) return
      pid.resolve(line.toString('latin1', 0, end).trim())
      const rest = line.subarray(end + 1)
      line = undefined
      if (wantedSize !== size) resize(wantedSize)
      isReady = true
      sendPending()
      if (rest.length > 0) events.data(rest)
    })
    if (isPaused) opened.pause()
    return exitStatusOf(target, id, opened)
  }

  void run()
    .catch(() => notStarted)
    .then((status) => {
      hasEnded = true
      pid.resolve(undefined)
      socket?.destroy()
      const signal = fatalSignals.find((name) => status === 128 + constants.signals[name])
      events.ended(signal ? 0 : status, signal)
    })

  return {
    write(bytes) {
      if (stopsInput || hasEnded) return
      const own = Buffer.from(bytes)
      pendingBytes += own.length
      pending.push(own)
      sendPending()
    },
    get pendingBytes() {
      return pendingBytes
    },
    onceBelow(bytes, run) {
      notify = { bytes, run }
      checkPending()
    },
    resize(size) {
      wantedSize = size
      resize(size)
    },
    pause() {
      isPaused = true
      socket?.pause()
    },
    resume() {
      isPaused = false
      socket?.resume()
    },
    async kill(signal, kind) {
      const process = await pid.promise
      return process !== undefined && !hasEnded && killTerminal(target, signal, kind, process, command.user)
    },
    stopInput() {
      stopsInput = true
      pending = []
      pendingBytes = 0
      checkPending()
    },
  }
}

export const killTerminal = async (
  target: ExecTarget,
  signal: NodeJS.Signals,
  kind: 'foreground' | 'process',
  process: string,
  user?: string,
): Promise<boolean> => {
  if (kind === 'process') return killInside(target, signal, process, user)
  const argv = ['/bin/sh', '-c', foregroundGroup, 'sh', process]
  const found = await runInside(target, argv, user).catch(() => undefined)
  const group = Number(found?.output)
  return group > 0 && killInside(target, signal, `-${group}`, user)
}
