import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type Launch, spawnIn } from '../local/launch.ts'

export interface Reply {
  request: number
  errorCode?: string
}

interface Connector {
  connect(port: number): Promise<Socket>
  close(): Promise<void>
}

/** A process can't switch network namespaces for one call, so a helper inside connects and passes the socket back. */
export const createConnector = (enter: (argv: readonly string[]) => Launch): Connector => {
  const waiting = new Map<number, PromiseWithResolvers<Socket>>()
  let child: ChildProcess | undefined
  let requests = 0

  const start = (): ChildProcess => {
    const started = spawnIn(enter([process.execPath, fileURLToPath(new URL('./connect-inside.ts', import.meta.url))]), {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      detached: true,
    })
    started.on('message', ({ request, errorCode }: Reply, socket) => {
      const { resolve, reject } = waiting.get(request) ?? {}
      waiting.delete(request)
      if (errorCode === undefined) resolve?.(socket as Socket)
      else reject?.(Object.assign(new Error(`connect ${errorCode}`), { code: errorCode }))
    })
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
      const reply = Promise.withResolvers<Socket>()
      waiting.set(request, reply)
      child.send({ request, port }, (error) => {
        if (error && waiting.delete(request)) reply.reject(error)
      })
      return reply.promise
    },
    async close() {
      isClosed = true
      if (child?.kill('SIGKILL')) await once(child, 'exit')
    },
  }
}

const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
