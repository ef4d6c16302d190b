import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { EvictionWatch } from '#lib/gateway/alerts/eviction-watch.ts'
import { startConsole, startServer } from '#lib/gateway/testing.ts'
import { quantileOf } from '../bench/compare.ts'
import { residentMiB } from './process.ts'

export const soakFaults = async (seconds: number) => {
  const downSeconds = 60
  const back = await reconnectConsoles(downSeconds)
  const slow = await slowReaders(seconds)
  const lines = [
    `${back.count} consoles after ${downSeconds} s without their service: reconnected over ${back.spreadSeconds.toFixed(1)} s, at most ${back.peak} in one second`,
    `A page that stops reading 1,000 events per second: memory grew by ${slow.pageMiB.toFixed(0)} MiB; p99 of another page ${slow.besideMs} ms, before ${slow.aloneMs} ms`,
    `1 GB read at 10 kB/s: ${slow.sentMiB.toFixed(0)} MiB sent, memory grew by ${slow.downloadMiB.toFixed(0)} MiB`,
  ]
  const problems = [
    ...(back.spreadSeconds < 5 || back.peak > back.count / 4 ? ['the consoles reconnected at once'] : []),
    ...(slow.pageMiB > 20 ? ['a page that stops reading costs memory'] : []),
    ...(slow.besideMs > 2 * slow.aloneMs + 50 ? ['a page that stops reading delays another'] : []),
    ...(slow.sentMiB > 32 || slow.downloadMiB > 32 ? ['a slow download costs memory'] : []),
  ]
  return { lines, problems }
}

const json = (response: ServerResponse, body: object) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
const stream = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': connected\n\n')

/** Connects 50 watches to a service that is down for `downSeconds`, and measures how they reconnect. */
const reconnectConsoles = async (downSeconds: number) => {
  const count = 50
  let connected: number[] = []
  const listener: RequestListener = ({ url }, response) => {
    if (!url?.endsWith('/watch')) return json(response, {})
    connected.push(performance.now())
    stream(response)
  }
  let service = await startServer(listener)
  const { url } = service
  const gateway = await startConsole({ url })
  // A key each: watches of one key and process wake each other.
  const watches = Array.from(
    { length: count },
    (_, i) => new EvictionWatch({ account: { id: 'soak', name: '' }, api_key: `ak_soak_${i}` }, () => undefined),
  )
  const untilConnected = async () => {
    while (connected.length < count) await delay(50)
  }
  await untilConnected()
  service.close()
  await delay(downSeconds * 1000)
  connected = []
  service = await startServer(listener, Number(new URL(url).port))
  await untilConnected()
  for (const watch of watches) watch.close()
  await gateway.close()
  service.close()
  const times = connected.slice(0, count)
  const inOneSecond = times.map((from) => times.filter((ms) => ms >= from && ms < from + 1000).length)
  return { spreadSeconds: ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000, peak: Math.max(...inOneSecond), count }
}

/** A console in its own process, so that its memory can be measured. */
const startConsoleAlone = async (serviceUrl: string) => {
  const script = `
    import { startConsole } from '#lib/gateway/testing.ts'
    const gateway = await startConsole({ url: '${serviceUrl}' })
    console.log(JSON.stringify({ url: gateway.url, cookie: await gateway.signIn('ak_soak') }))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(createInterface({ input: child.stdout as Readable }), 'line')
  return { child, ...(JSON.parse(line) as { url: string; cookie: string }) }
}

const end = async (child: ChildProcess) => {
  child.kill('SIGKILL')
  await once(child, 'close')
}

/** Sends 1,000 events per second to two pages, one of which stops reading, and 1 GB to a slow download. */
const slowReaders = async (seconds: number) => {
  const chunk = Buffer.alloc(64 * 1024, 'x')
  let downloaded = 0
  const service = await startServer(({ url = '' }, response) => {
    if (url === '/v1/accounts/me') return json(response, { id: 'soak', name: 'Soak' })
    if (url.endsWith('/download_logs')) {
      response.writeHead(200, { 'content-type': 'application/zip', 'content-length': 1024 ** 3 })
      const more = () => {
        while (!response.destroyed && downloaded < 1024 ** 3) {
          downloaded += chunk.length
          if (!response.write(chunk)) return void response.once('drain', more)
        }
      }
      return more()
    }
    if (!url.includes('/subscribe')) return json(response, {})
    stream(response)
    let sequence = 0
    const timer = setInterval(() => {
      for (let i = 0; i < 10 && !response.writableNeedDrain; i++) {
        const payload = `${Date.now()} ${'x'.repeat(200)}`
        response.write(`data: ${JSON.stringify({ axon_id: 'axn_1', sequence: ++sequence, payload })}\n\n`)
      }
    }, 10)
    response.once('close', () => clearInterval(timer))
  })
  const { child, url, cookie } = await startConsoleAlone(service.url)
  let delays: number[] = []
  const open = async () => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/live`, { headers: { cookie }, origin: url })
    let received = 0
    let acknowledged = 0
    socket.on('message', (data) => {
      const notice = JSON.parse(String(data)) as { t: string; items?: { payload: string }[] }
      if (notice.t !== 'data') return
      received += String(data).length
      for (const { payload } of notice.items ?? []) delays.push(Date.now() - Number.parseInt(payload, 10))
      if (received - acknowledged < 32_768) return
      acknowledged = received
      socket.send(JSON.stringify({ t: 'ack', n: received }))
    })
    await once(socket, 'open')
    socket.send(
      JSON.stringify({ t: 'subscribe', id: 1, topic: { endpoint: 'axons.subscribe', params: { id: 'axn_1' } } }),
    )
    await once(socket, 'message')
    return socket
  }
  const measure = async () => {
    delays = []
    await delay(seconds * 1000)
    return quantileOf(delays, 0.99)
  }
  try {
    const reading = await open()
    await delay(5_000)
    const aloneMs = await measure()
    const before = residentMiB(child.pid, 'VmRSS')
    const stopped = await open()
    stopped.pause()
    const besideMs = await measure()
    const pageMiB = residentMiB(child.pid, 'VmRSS') - before
    for (const socket of [stopped, reading]) socket.terminate()

    const beforeDownload = residentMiB(child.pid, 'VmRSS')
    const curl = spawn(
      'curl',
      [
        ...['--silent', '--limit-rate', '10k', '--output', '/dev/null', '--request', 'POST', '--data', '{}'],
        ...['--header', `cookie: ${cookie}`, '--header', `origin: ${url}`],
        ...['--header', 'content-type: application/json'],
        `${url}/api/v1/benchmark_runs/bmr_1/download_logs`,
      ],
      { stdio: 'ignore' },
    )
    await delay(seconds * 1000)
    const downloadMiB = residentMiB(child.pid, 'VmRSS') - beforeDownload
    await end(curl)
    return { aloneMs, besideMs, pageMiB, downloadMiB, sentMiB: downloaded / 1024 ** 2 }
  } finally {
    await end(child)
    service.close()
  }
}
