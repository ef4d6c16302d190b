import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type Launch, spawnIn } from '../engine.ts'

export interface Answer {
  request: number
  /** Why there is no connection, as Node names it. */
  problem?: string
}

interface Connector {
  connect(port: number): Promise<Socket>
  close(): void
}

/**
 * Connections to the loopback of another network. A process cannot change its network for a moment, so a small process
 * runs there from the first connection on; it connects and hands over the socket, and no byte passes through it.
 */
export const createConnector = (enter: (argv: readonly string[]) => Launch): Connector => {
  const waiting = new Map<number, PromiseWithResolvers<Socket>>()
  let child: ChildProcess | undefined
  let requests = 0

  const start = (): ChildProcess => {
    const started = spawnIn(enter([process.execPath, fileURLToPath(new URL('./connect-inside.ts', import.meta.url))]), {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      detached: true,
    })
    started.on('message', ({ request, problem }: Answer, socket) => {
      const { resolve, reject } = waiting.get(request) ?? {}
      waiting.delete(request)
      if (problem === undefined) resolve?.(socket as Socket)
      else reject?.(Object.assign(new Error(`connect ${problem}`), { code: problem }))
    })
    // It ends with the devbox's network.
    const onEnd = () => {
      if (child === started) child = undefined
      for (const { reject } of waiting.values()) reject(refused())
      waiting.clear()
    }
    started.once('exit', onEnd)
    started.once('error', onEnd)
    return started
  }

  let isClosed = false
  return {
    async connect(port) {
      if (isClosed) throw refused()
      child ??= start()
      const request = ++requests
      const answer = Promise.withResolvers<Socket>()
      waiting.set(request, answer)
      child.send({ request, port }, (error) => {
        if (error && waiting.delete(request)) answer.reject(error)
      })
      return answer.promise
    },
    close() {
      isClosed = true
      child?.kill('SIGKILL')
    },
  }
}

const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
