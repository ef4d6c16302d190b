import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Product } from '#e2e/product.ts'
import { createClient } from '#lib/client/client.ts'
import { accountHeader } from '#lib/protocol/session.ts'
import { newName, openPage } from '../bench/terminal-targets.ts'

/** An account that uses all it can, in its own process, which the measuring one kills. Prints `ready` under full load. */

const loads = {
  'half requests': async ({ url, serviceUrl }) => {
    await Promise.all([url, serviceUrl].map((each) => holdHalfRequests(each, halfRequests)))
    return `${halfRequests} at the console and ${halfRequests} at the service`
  },
  streams: async ({ url, cookie, account, client, devboxId }) => {
    const { execution_id } = await client.executions.executeAsync({
      params: { id: devboxId },
      body: { command: 'while sleep 0.5; do date; done' },
    })
    const path = `/api/v1/devboxes/${devboxId}/executions/${execution_id}/stream_stdout_updates`
    const headers = { cookie, [accountHeader]: account, accept: 'text/event-stream' }
    const answers = await Promise.all(Array.from({ length: streams }, () => fetch(url + path, { headers })))
    for (const answer of answers) void readOn(answer)
    return `${answers.filter(({ status }) => status === 200).length} of ${streams} streams are open`
  },
  'printing terminals': async (target) => {
    for (let count = 0; count < terminals; count++) await printForEver(target)
    return `${terminals} terminals print`
  },
  'a full disk': async ({ client, devboxId }) => {
    // Stays just below the size at which the devbox would be suspended.
    const command = 'while :; do head -c 3500M /dev/zero > ~/full; sync ~/full; rm ~/full; done'
    await client.executions.executeAsync({ params: { id: devboxId }, body: { command } })
    return 'its disk is filled again and again'
  },
  'a fork bomb': async ({ client, devboxId }) => {
    await client.executions.executeAsync({ params: { id: devboxId }, body: { command: ':(){ :|:& };:' } })
    return 'it forks'
  },
} satisfies Record<string, (target: Loud) => Promise<string>>

export type Load = keyof typeof loads

export interface Loud extends Pick<Product, 'url' | 'serviceUrl'> {
  key: string
  account: string
  cookie: string
  devboxId: string
  client: ReturnType<typeof createClient>
}

const halfRequests = 3_000
const streams = 231
const terminals = 48

/** Keeps sending half a request; reconnects when disconnected. */
const holdHalfRequests = async (url: string, count: number) => {
  const { hostname, port, host } = new URL(url)
  const hold = () =>
    new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nX-Half:`)
        resolve()
      })
      socket.on('error', () => resolve())
      socket.on('close', () => void delay(100).then(hold))
      socket.resume()
    })
  for (let begun = 0; begun < count; begun += 100) await Promise.all(Array.from({ length: 100 }, hold))
}

const readOn = async ({ body }: Response) => {
  try {
    for await (const _ of body ?? []);
  } catch {
    // Disconnected; the measurement continues without it.
  }
}

const printForEver = async ({ devboxId, cookie, ...product }: Loud) => {
  const page = await openPage(product, { devboxId, session: newName(), cookie, query: { client: newName() } })
  page.onData((bytes) => page.parsed(bytes.length))
  page.send('yes "$(head -c 60 /dev/zero | tr "\\0" x)"\r')
}

const [, , name, given] = process.argv
if (name !== undefined && given !== undefined && process.send) {
  process.once('disconnect', () => process.exit())
  const target = JSON.parse(given)
  const client = createClient({ baseUrl: target.serviceUrl, headers: { authorization: `Bearer ${target.key}` } })
  process.send(await loads[name as Load]({ ...target, client }))
}
