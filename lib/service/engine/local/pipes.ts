import { closeSync, constants, fchmodSync, openSync } from 'node:fs'
import type { Socket } from 'node:net'
import { spawnProcess } from '#lib/service/kit/spawn.ts'

export interface Pipe {
  ours: number
  theirs: number
}

/** Anonymous pipes with our ends non-blocking. Programs can't reopen the sockets that Node uses as /dev/stdout. */
export const openPipes = (ours: readonly ('read' | 'write')[]): Promise<Pipe[]> => {
  const pipes = queue.then(() => takePipes(ours).catch(() => takePipes(ours)))
  queue = pipes.catch(() => undefined)
  return pipes
}
let queue: Promise<unknown> = Promise.resolve()

const takePipes = async (ours: readonly ('read' | 'write')[]): Promise<Pipe[]> => {
  maker ??= startMaker()
  const { pid, made, next, end } = maker
  await made()
  const opened: number[] = []
  const open = (i: number, flags: number) => {
    const descriptor = openSync(`/proc/${pid}/fd/${i + 3}`, flags)
    opened.push(descriptor)
    return descriptor
  }
  try {
    const pipes = ours.map((direction, i) => {
      const [own, other] =
        direction === 'read' ? [constants.O_RDONLY, constants.O_WRONLY] : [constants.O_WRONLY, constants.O_RDONLY]
      const pipe = { ours: open(i, own | constants.O_NONBLOCK), theirs: open(i, other) }
      fchmodSync(pipe.theirs, 0o666)
      return pipe
    })
    next()
    return pipes
  } catch (error) {
    for (const descriptor of opened) closeSync(descriptor)
    end()
    throw error
  }
}

// Makes the pipes of the next command in advance: Node can't, and starting a shell for each costs milliseconds. Closes
// inherited terminals, which are open without close-on-exec.
const makePipes = `for fd in /proc/self/fd/*; do fd=\${fd##*/}; ((fd < 3)) || eval "exec $fd>&-"; done
while exec 3<> <(:) 4<> <(:) 5<> <(:) && echo made && read -r _; do exec 3>&- 4>&- 5>&-; done`

interface Maker {
  pid: number | undefined
  /** Rejects if the process has ended. */
  made(): Promise<void>
  next(): void
  end(): void
}

let maker: Maker | undefined

const startMaker = (): Maker => {
  const child = spawnProcess('/bin/bash', ['--norc', '-p', '-c', makePipes], {
    env: {} as NodeJS.ProcessEnv,
    stdio: ['pipe', 'pipe', 'ignore'],
    // Not ended by the operator's Ctrl-C, but with the service, which holds its stdin.
    detached: true,
  })
  const [stdin, stdout] = [child.stdin as Socket, child.stdout as Socket]
  for (const handle of [child, stdin, stdout]) handle.unref()
  let made = Promise.withResolvers<void>()
  made.promise.catch(() => undefined)
  const started: Maker = {
    pid: child.pid,
    async made() {
      stdout.ref()
      await made.promise.finally(() => stdout.unref())
    },
    next() {
      made = Promise.withResolvers()
      made.promise.catch(() => undefined)
      stdin.write('\n')
    },
    end() {
      if (maker === started) maker = undefined
      stdin.end()
    },
  }
  stdin.on('error', () => undefined)
  stdout.on('data', () => made.resolve())
  child.once('exit', () => {
    started.end()
    made.reject(new Error('The process that creates pipes exited'))
  })
  return started
}
