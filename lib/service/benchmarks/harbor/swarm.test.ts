import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { dockerTasks, writeDockerTask } from '#lib/service/testing/docker-tasks.ts'
import { runsLongSwarmTests } from '#lib/service/testing/has-swarm.ts'
import { createJob, untilEnded } from '#lib/service/testing/jobs.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { sharedSwarm } from '#lib/service/testing/swarm.ts'

const names = [
  ...['daemon', 'entrypoint', 'env', 'healthcheck', 'memory', 'unhealthy', 'user'],
  ...['network-by-phase', 'network-of-agent-beside-a-service', 'no-network'],
  ...['separate-verifier', 'shared-volume', 'sidecar'],
]

describe.runIf(runsLongSwarmTests)('a Harbor job on a swarm', () => {
  let swarm: Awaited<ReturnType<typeof sharedSwarm>>
  let service: TestService
  let datasets: string
  let job: BenchmarkJob
  beforeAll(async () => {
    swarm = await sharedSwarm()
    await swarm.image('base')
    datasets = realpathSync(mkdtempSync(join(tmpdir(), 'devdeck-swarm-tasks-')))
    for (const name of names)
      writeDockerTask(join(datasets, 'tasks', name), dockerTasks[name] ?? { files: {}, expected: 1 })
    const { manager, registry } = swarm
    service = await startService({
      engine: 'swarm',
      swarm: { url: manager.url, registry, placement: [], reserved: { cpu: 0.5, memory: 0.1 } },
      datasets: [datasets],
    })
    const inline_yaml = 'n_concurrent_trials: 6\nagents: [{ name: oracle }]\ndatasets: [{ path: tasks }]\n'
    const { id } = await createJob(service.client, { type: 'harbor', inline_yaml })
    job = await untilEnded(service.client, id)
  })
  afterAll(async () => {
    await service?.close()
    rmSync(datasets, { recursive: true, force: true })
  })

  it('gives every task the reward that Harbor gives it, in no other environment', () => {
    const outcomes = job.benchmark_outcomes?.[0]?.scenario_outcomes ?? []
    const results = outcomes.map(({ scenario_name, score, failure_reason, engine, environment_differs }) => [
      scenario_name,
      { result: failure_reason?.exception_type ?? score, engine, environment_differs },
    ])
    const expected = names.map((name) => [
      name,
      { result: dockerTasks[name]?.expected, engine: 'swarm', environment_differs: false },
    ])
    expect(outcomes.find(({ scenario_name }) => scenario_name === 'sidecar')?.warnings).toEqual([
      'In a swarm, services have no internet access',
    ])
    expect(Object.fromEntries(results), JSON.stringify(outcomes, null, 1)).toEqual(Object.fromEntries(expected))
  })

  it('leaves no containers, volumes and networks beside devboxes', async () => {
    const filters = { label: ['devdeck.beside'] }
    for (const { api } of swarm.nodes)
      await expect.poll(() => api.json('GET', '/containers/json', { query: { all: true, filters } })).toEqual([])
    for (const { api } of swarm.nodes)
      await expect.poll(() => api.json('GET', '/volumes', { query: { filters } })).toMatchObject({ Volumes: [] })
    await expect.poll(() => swarm.manager.api.json('GET', '/networks', { query: { filters } })).toEqual([])
  })
})
