import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { type IPty, spawn } from '@lydell/node-pty'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Devbox } from './devboxes.ts'
import { Failure, type Routes } from './http.ts'

interface Shell {
  pty: IPty
  attached: WebSocket | undefined
  /** Output before the first client attached. */
  early: Buffer[]
}

const shellEnded = 4000

/** Terminals at the bare base URL; the token of `create_pty_tunnel` names the devbox. */
export const terminalRoutes = (devboxOfToken: (token: string) => Devbox | undefined) => {
  const shells = new Map<string, Shell>()
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: (offered) => [...offered][0] ?? false })
  const devboxFor = (token: string): Devbox => {
    const devbox = devboxOfToken(token)
    if (devbox?.record.status !== 'running') throw new Failure(401, 'Unauthorized')
    return devbox
  }
  const bearerOf = ({ headers }: IncomingMessage) => (headers.authorization ?? '').replace('Bearer ', '')
  const keyOf = (devbox: Devbox, name: string) => `${devbox.record.id} ${name}`
  const routes: Routes = {
    'GET /pty/*': ({ at: [name = ''], request, query }) => {
      if (!/^[A-Za-z0-9_-]{1,256}$/.test(name)) throw new Failure(400, 'Malformed session name')
      const devbox = devboxFor(bearerOf(request))
      const key = keyOf(devbox, name)
      const found = shells.get(key)
      if (!found) {
        const pty = spawn('bash', ['--norc'], {
          name: 'xterm-256color',
          cols: Number(query.get('cols') ?? 80),
          rows: Number(query.get('rows') ?? 24),
          cwd: devbox.home,
          env: { PATH: process.env.PATH, HOME: devbox.home, PS1: 'hosted$ ' },
          encoding: null,
        })
        const shell: Shell = { pty, attached: undefined, early: [] }
        shells.set(key, shell)
        pty.onData((data) =>
          shell.attached ? shell.attached.send(Buffer.from(data)) : shell.early.push(Buffer.from(data)),
        )
        pty.onExit(() => {
          shells.delete(key)
          shell.attached?.close(shellEnded)
        })
      }
      return {
        session_name: name,
        created: !found,
        attached: found?.attached !== undefined,
        status: 'ready',
        protocol_version: '1',
        connect_url: `/pty/${name}/attach?token=ephemeral`,
        gateway_pod: 'pty-4',
      }
    },
    'POST /pty/*/control': ({ at: [name = ''], request, body }) => {
      const shell = shells.get(keyOf(devboxFor(bearerOf(request)), name))
      if (!shell) throw new Failure(404, 'No such session')
      if (body.action === 'resize') shell.pty.resize(Number(body.cols), Number(body.rows))
      if (body.action === 'signal') shell.pty.kill(String(body.signal))
      if (body.action === 'close') shell.pty.kill('SIGHUP')
      return { session_name: name, status: body.action === 'close' ? 'closed' : 'ready' }
    },
  }
  const listen = (server: Server) =>
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const refuse = (status: number) => socket.end(`HTTP/1.1 ${status} Refused\r\ncontent-length: 0\r\n\r\n`)
      const name = /^\/pty\/([^/]+)\/attach\?/.exec(request.url ?? '')?.[1] ?? ''
      const devbox = devboxOfToken(request.headers['sec-websocket-protocol'] ?? '')
      const shell = devbox && shells.get(keyOf(devbox, name))
      if (!shell) return refuse(401)
      if (shell.attached) return refuse(409)
      sockets.handleUpgrade(request, socket, head, (attached) => {
        shell.attached = attached
        for (const output of shell.early.splice(0)) attached.send(output)
        attached.on('message', (data) => shell.pty.write(String(data)))
        attached.on('close', () => {
          shell.attached = undefined
        })
      })
    })
  return {
    routes,
    listen,
    close: () => {
      for (const { pty } of shells.values()) pty.kill('SIGKILL')
    },
  }
}
