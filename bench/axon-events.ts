import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { startService } from '#lib/service/testing.ts'

/**
 * Events from publisher to subscribers, who are a process of their own. Times are of one clock: the payload carries when
 * it was published.
 */

interface Order {
  url: string
  key: string
  id: string
  subscribers: number
  events: number
}

interface Heard {
  deliveries: number
  lost: number
  repeated: number
  p50: number
  p99: number
}

export const benchAxonEvents = async () => {
  const service = await startService({ isolation: 'none', validateAnswers: false })
  try {
    console.log('axon events from publish to subscribers in another process, over HTTP/1.1')
    for (const [subscribers, events, pauseMs, restarts] of [
      [100, 400, 10, 0],
      [1_000, 100, 20, 0],
      [1_000, 100, 20, 1],
    ] as const) {
      const { id } = await service.client.axons.create()
      const listeners = fork(fileURLToPath(import.meta.url), ['listen'], { execArgv: [] })
      const order: Order = { url: service.url, key: service.key, id, subscribers, events }
      listeners.send(order)
      await once(listeners, 'message')
      const answered = once(listeners, 'message')
      const acknowledged: number[] = []
      for (let i = 0; i < events; i++) {
        if (restarts > 0 && i === events / 2) await service.restart()
        const start = performance.now()
        const from = performance.timeOrigin + start
        await service.client.axons.publish({
          params: { id },
          body: { event_type: 'tick', origin: 'USER_EVENT', source: 'bench', payload: String(from) },
        })
        acknowledged.push(performance.now() - start)
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
      const [heard] = (await answered) as [Heard]
      listeners.disconnect()
      await once(listeners, 'exit')
      acknowledged.sort((a, b) => a - b)
      const { deliveries, lost, repeated, p50, p99 } = heard
      console.log(
        `  ${subscribers} subscribers, ${deliveries} deliveries${restarts > 0 ? ', through a restart' : ''}: lost ${lost}, repeated ${repeated}, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms${subscribers === 100 ? ' (goal 5)' : ''}; acknowledged p50 ${acknowledged[Math.floor(events / 2)]?.toFixed(1)} ms`,
      )
    }
  } finally {
    await service.close()
  }
}

/** Listens until every subscriber has every event, connecting again when a stream ends. */
const listen = async ({ url, key, id, subscribers, events }: Order) => {
  const agent = new Agent({ keepAlive: false, maxSockets: Infinity })
  const { hostname, port } = new URL(url)
  const times: number[] = []
  let [lost, repeated, connected] = [0, 0, 0]
  const subscribe = async (index: number) => {
    let last = 0
    let isFirst = true
    while (last < events) {
      try {
        const path = `/v1/axons/${id}/subscribe/sse?after_sequence=${last}`
        const outgoing = request({ hostname, port, path, agent, headers: { authorization: `Bearer ${key}` } })
        outgoing.end()
        const [response] = await once(outgoing, 'response')
        if (isFirst && ++connected === subscribers) process.send?.('ready')
        isFirst = false
        if (response.statusCode !== 200) throw new Error(`${response.statusCode}`)
        let rest = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          const now = performance.timeOrigin + performance.now()
          const frames = (rest + chunk).split('\n\n')
          rest = frames.pop() ?? ''
          for (const frame of frames) {
            if (!frame.startsWith('data: ')) continue
            const { sequence, payload } = JSON.parse(frame.slice(6)) as { sequence: number; payload: string }
            if (sequence <= last) repeated++
            else lost += sequence - last - 1
            last = Math.max(last, sequence)
            times.push(now - Number(payload))
          }
          if (last >= events) response.destroy()
        })
        await once(response, 'close')
      } catch {
        // The service is being started anew.
        await new Promise((resolve) => setTimeout(resolve, 20 + (index % 50)))
      }
    }
  }
  await Promise.all(Array.from({ length: subscribers }, (_, i) => subscribe(i)))
  times.sort((a, b) => a - b)
  const at = (part: number) => times[Math.floor(times.length * part)] ?? Number.NaN
  process.send?.({ deliveries: times.length, lost, repeated, p50: at(0.5), p99: at(0.99) } satisfies Heard)
}

if (process.argv[2] === 'listen') process.once('message', (order) => void listen(order as Order))
