import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startService } from '#lib/service/testing.ts'
import { benchExecutions } from './executions.ts'
import { benchStartup } from './startup.ts'

/**
 * Measurements as ratios, so that they mean the same on another machine: each number stands beside what a bare
 * Node server does with the same bytes, taken in turns in the same run. `npm run bench [-- axons]`.
 */

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number

/** Microseconds per call: the median of `rounds` calls one after the other, after a warm-up. */
const timeCalls = async (call: () => Promise<unknown>, rounds: number) => {
  for (let i = 0; i < rounds / 5; i++) await call()
  const times: number[] = []
  for (let i = 0; i < rounds; i++) {
    const start = performance.now()
    await call()
    times.push((performance.now() - start) * 1000)
  }
  return median(times)
}

const fetchText = async (url: string, headers: Record<string, string> = {}) => (await fetch(url, { headers })).text()

const benchAxonList = async () => {
  const service = await startService({ isolation: 'none', validateAnswers: false })
  const bare = createServer()
  try {
    for (let i = 0; i < 2000; i++)
      await service.client.axons.create({
        body: { name: `bench-${i}`, metadata: { env: i % 3 ? 'dev' : 'prod', team: `t${i % 10}` } },
      })
    const headers = { authorization: `Bearer ${service.key}` }
    const urls: Record<string, string> = {
      'first page of 20': `${service.url}/v1/axons`,
      'first page, no count': `${service.url}/v1/axons?include_total_count=false`,
      'two metadata filters': `${service.url}/v1/axons?metadata[env]=prod&metadata[team]=t3`,
      'page of 1000': `${service.url}/v1/axons?limit=1000`,
    }
    let body = ''
    bare.on('request', (_, response) => response.setHeader('content-type', 'application/json').end(body))
    await once(bare.listen(0, '127.0.0.1'), 'listening')
    const bareUrl = `http://127.0.0.1:${(bare.address() as AddressInfo).port}`
    console.log(
      'axon list over HTTP, 2,000 axons, median µs of 5 interleaved rounds; ratio to a bare node:http server sending the same bytes',
    )
    for (const [name, url] of Object.entries(urls)) {
      body = await fetchText(url, headers)
      const [ours, floor]: [number[], number[]] = [[], []]
      for (let round = 0; round < 5; round++) {
        ours.push(await timeCalls(() => fetchText(url, headers), 100))
        floor.push(await timeCalls(() => fetchText(bareUrl), 100))
      }
      const ratio = median(ours) / median(floor)
      console.log(
        `  ${name.padEnd(22)} ${median(ours).toFixed(0).padStart(6)} / ${median(floor).toFixed(0).padStart(6)} = ${ratio.toFixed(2)}x`,
      )
    }
  } finally {
    bare.close()
    await service.close()
  }
}

const benches: Record<string, () => Promise<void>> = {
  axons: benchAxonList,
  executions: benchExecutions,
  startup: benchStartup,
}

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !(name in benches))
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}; there is ${Object.keys(benches).join(', ')}`)
  process.exit(1)
}
for (const [name, bench] of Object.entries(benches)) if (asked.length === 0 || asked.includes(name)) await bench()
