import { spawn } from 'node:child_process'
import type { Server as HttpServer } from 'node:http'
import type { Server, Socket } from 'node:net'
import { createHttpProxy, maxConnections } from './http-proxy.ts'
import type { Rules } from './rules.ts'

/** A process with the HTTP proxy of one devbox. */
export interface ProxyConfig {
  /** A command that passes a listening server. Without it, the proxy serves the connections it is sent. */
  listen?: { file: string; args: string[] }
  rules: Rules
}

export type ProxyMessage = { listening: true } | { blocked: string }

const send = (message: ProxyMessage) => process.send?.(message)

process.once('disconnect', () => process.exit())
process.once('message', ({ listen, rules }: ProxyConfig) => {
  const proxy = createHttpProxy(() => ({ rules, report: (blocked) => void send({ blocked }) }))
  if (!listen) {
    serveSent(proxy)
    return send({ listening: true })
  }
  const child = spawn(listen.file, listen.args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  child.once('error', () => process.exit(1))
  child.once('exit', (code) => code !== 0 && process.exit(1))
  child.once('message', (_, listening) => {
    // Clients may half-close a connection and wait for the response.
    const server = Object.assign(listening as Server, { allowHalfOpen: true, maxConnections })
    server.on('connection', (socket) => proxy.emit('connection', socket))
    send({ listening: true })
  })
})

const serveSent = (proxy: HttpServer) => {
  let connections = 0
  process.on('message', (_, socket?: Socket) => {
    if (!socket) return
    if (connections >= maxConnections) return socket.destroy()
    connections++
    socket.once('close', () => connections--)
    proxy.emit('connection', Object.assign(socket, { allowHalfOpen: true }).resume())
  })
}
