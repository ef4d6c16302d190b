import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import { benchmarkRunMutations } from './queries.ts'

/** Requests to a service that responds to the cancellation of a job with `status`. */
const requestsFor = async (status: number, runs: string[]) => {
  const requests: string[] = []
  const service = createServer(({ method, url }, response) => {
    requests.push(`${method} ${url}`)
    const isOfJob = url?.includes('benchmark_jobs')
    const body = isOfJob
      ? { id: 'bmj_1', name: 'j', state: 'cancelled', create_time_ms: 1 }
      : { id: 'bmr_1', state: 'canceled', start_time_ms: 1, metadata: {} }
    response.writeHead(isOfJob ? status : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isOfJob && status !== 200 ? { message: 'no' } : body))
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
  const api = createClient({ baseUrl: `http://127.0.0.1:${(service.address() as AddressInfo).port}` })
  const cancel = benchmarkRunMutations.cancelJob(api).mutationFn
  const done = cancel?.({ id: 'bmj_1', runs }, {} as never)
  await done?.catch((error: { status: number }) => requests.push(`refused ${error.status}`))
  service.closeAllConnections()
  service.close()
  return requests.map((each) => each.replace('/v1/', ''))
}

it('cancels a job, or its runs if the service has no such call', async () => {
  const job = 'POST benchmark_jobs/bmj_1/cancel'
  const run = (id: string) => `POST benchmarks/runs/${id}/cancel`
  expect(await requestsFor(200, ['bmr_1'])).toEqual([job])
  expect(await requestsFor(404, ['bmr_1', 'bmr_2'])).toEqual([job, run('bmr_1'), run('bmr_2')])
  expect(await requestsFor(404, [])).toEqual([job, 'refused 404'])
  expect(await requestsFor(409, ['bmr_1'])).toEqual([job, 'refused 409'])
})
