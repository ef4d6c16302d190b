import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '#lib/client/client.ts'
import { chooseEngine } from '#lib/service/engine/choose-engine.ts'
import { type Isolation, type Sandbox, spawnIn } from '#lib/service/engine/engine.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { addressOf, residentMiB } from './service-process.ts'

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number

const rounds = 15
const callsPerRound = 20

/**
 * Overhead of an execution: `bash -c true` spawned directly in the same sandbox, compared with execute_async until its
 * response and until wait_for_status returns.
 */
export const benchExecutions = async () => {
  console.log(
    `execute_async of \`true\` over HTTP, median ms of ${rounds} interleaved rounds; ratio to bash spawned directly in the same sandbox`,
  )
  for (const isolation of ['bubblewrap', 'none'] as const) await benchIsolation(isolation)
  const { seconds, grownMiB } = await streamOutput(1000)
  console.log(
    `1 GB of output to one reader: ${seconds.toFixed(1)} s, ${(1000 / seconds).toFixed(0)} MB/s; memory grew by ${grownMiB.toFixed(0)} MiB at most`,
  )
}

/** Streams `megabytes` of output to one reader. Returns the time and the service's memory growth. */
export const streamOutput = async (megabytes: number): Promise<{ seconds: number; grownMiB: number }> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-bench-'))
  const main = fileURLToPath(new URL('../lib/service/main.ts', import.meta.url))
  const flags = ['--port', '0', '--data-dir', dataDir, '--isolation', 'none', '--stop-with-parent']
  const service = spawn(process.execPath, [main, ...flags], {
    env: { ...process.env, DEVDECK_API_KEYS: 'bench:ak_bench_0123456789' },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  try {
    const client = createClient({
      baseUrl: await addressOf(service),
      headers: { authorization: 'Bearer ak_bench_0123456789' },
    })
    const { id } = await client.devboxes.createAndAwaitRunning({ body: {} })
    const stream = async (count: number) => {
      const { execution_id } = await client.executions.executeAsync({
        params: { id },
        body: { command: `head -c ${count}000000 /dev/zero | tr '\\0' x` },
      })
      let bytes = 0
      for await (const { output } of client.executions.streamStdout({ params: { devbox_id: id, execution_id } }))
        bytes += output.length
      if (bytes !== count * 1e6) throw new Error(`${count} MB were written, but ${bytes} bytes arrived`)
    }
    // Buffers and compiled code are not growth.
    await stream(16)
    const before = residentMiB(service.pid, 'VmRSS')
    const start = performance.now()
    await stream(megabytes)
    return {
      seconds: (performance.now() - start) / 1000,
      grownMiB: Math.max(0, residentMiB(service.pid, 'VmHWM') - before),
    }
  } finally {
    const ended = once(service, 'exit')
    service.kill('SIGTERM')
    await ended
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const benchIsolation = async (isolation: Isolation) => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-bench-'))
  const service = await startService({ isolation, validateResponses: false })
  const { sandbox, stop } = await startSandbox(isolation, folder)
  const agent = new Agent({ keepAlive: true })
  try {
    const { id } = await service.client.devboxes.createAndAwaitRunning({ body: {} })
    const post = poster(service, agent)
    const answered = () => post(`/v1/devboxes/${id}/execute_async`, { command: 'true' })
    const completed = async () => {
      const { execution_id } = await answered()
      await post(`/v1/devboxes/${id}/executions/${execution_id}/wait_for_status`, { statuses: ['completed'] })
    }
    const direct = async () => {
      const child = spawnIn(sandbox.launch({ argv: ['/bin/bash', '-c', 'true'], env: {} }), {
        detached: true,
        stdio: ['ignore', 'ignore', 'ignore'],
      })
      await once(child, 'exit')
    }
    const times = { direct: [] as number[], answered: [] as number[], completed: [] as number[] }
    for (let round = 0; round <= rounds; round++) {
      for (const [name, call] of Object.entries({ direct, completed })) {
        const taken = await timeEach(call)
        // The first round warms up.
        if (round > 0) times[name as keyof typeof times].push(...taken)
      }
      const taken = await timeEach(answered, completed)
      if (round > 0) times.answered.push(...taken)
    }
    const floor = median(times.direct)
    console.log(`  ${isolation.padEnd(10)} spawned directly        ${floor.toFixed(2)}`)
    for (const [name, label] of [
      ['answered', 'until the answer'],
      ['completed', 'until completed'],
    ] as const)
      console.log(
        `  ${isolation.padEnd(10)} ${label.padEnd(22)}  ${median(times[name]).toFixed(2)} = ${(median(times[name]) / floor).toFixed(2)}x`,
      )
  } finally {
    agent.destroy()
    await stop()
    await service.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Milliseconds per call; `settle` runs untimed after each call. */
const timeEach = async (call: () => Promise<unknown>, settle?: () => Promise<unknown>) => {
  const times: number[] = []
  for (let i = 0; i < callsPerRound; i++) {
    const start = performance.now()
    await call()
    times.push(performance.now() - start)
    await settle?.()
  }
  return times
}

const startSandbox = async (
  isolation: Isolation,
  folder: string,
): Promise<{ sandbox: Sandbox; stop: () => Promise<void> }> => {
  const engine = await chooseEngine(isolation, () => undefined)
  const sandbox = await engine.start({
    devboxId: 'bench',
    serviceId: 'bench',
    hostname: 'bench',
    dataDir: folder,
    home: folder,
    tmp: folder,
    run: folder,
    limits: { cpuCores: 2, memoryBytes: 4 * 2 ** 30, diskBytes: 8 * 2 ** 30 },
    network: 'public',
  })
  return { sandbox, stop: () => sandbox.stop() }
}

/** node:http directly: `fetch` adds about 0.5 ms per call. */
const poster = (service: TestService, agent: Agent) => {
  const { hostname, port } = new URL(service.url)
  const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' }
  return async (path: string, body: object): Promise<{ execution_id: string }> => {
    const outgoing = request({ hostname, port, path, method: 'POST', headers, agent })
    outgoing.end(JSON.stringify(body))
    const [response] = await once(outgoing, 'response')
    let text = ''
    for await (const chunk of response.setEncoding('utf8')) text += chunk
    if (response.statusCode !== 200) throw new Error(`${path} returned ${response.statusCode}: ${text}`)
    return JSON.parse(text)
  }
}
