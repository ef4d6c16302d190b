import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownDocker, type TestDocker } from '#lib/service/testing/docker.ts'
import { dockerTask, writeDockerTask } from '#lib/service/testing/docker-tasks.ts'
import { hasDocker } from '#lib/service/testing/has-docker.ts'
import { createJob, untilEnded } from '#lib/service/testing/jobs.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { readZip } from '#lib/service/testing/zip.ts'

describe.runIf(hasDocker)('a Harbor job whose container engine is killed', () => {
  let docker: TestDocker
  let service: TestService
  let datasets: string
  beforeAll(async () => {
    docker = await ownDocker()
    await docker.image('base')
    datasets = realpathSync(mkdtempSync(join(tmpdir(), 'devdeck-lost-engine-')))
    const solution = 'touch /started; sleep 3; touch /done'
    const compose = 'services: { beside: { image: base, command: sleep infinity } }\n'
    writeDockerTask(
      join(datasets, 'tasks', 'slow'),
      dockerTask('FROM base\n', solution, '[ -e /done ]', { 'environment/docker-compose.yaml': compose }),
    )
    service = await startService({ engine: docker.url, datasets: [datasets] })
  })
  afterAll(async () => {
    await service?.close()
    await docker?.close()
    rmSync(datasets, { recursive: true, force: true })
  })

  it('retries the trial, keeps its reason and leaves nothing behind', async () => {
    const retry = 'retry: { max_retries: 50, min_wait_sec: 0.2, max_wait_sec: 0.5 }'
    const inline_yaml = `${retry}\nagents: [{ name: oracle }]\ndatasets: [{ path: tasks }]\n`
    const { id } = await createJob(service.client, { type: 'harbor', inline_yaml })
    const started = async () => {
      const query = { status: 'running', limit: 1 } as const
      const [devbox] = (await service.client.devboxes.list({ query })).devboxes
      if (!devbox) return undefined
      const command = '[ -e /started ]'
      const ran = await service.client.executions.executeSync({ params: { id: devbox.id }, body: { command } })
      return ran.exit_status === 0 ? (devbox.initiator_id ?? undefined) : undefined
    }
    const lost = await expect.poll(started, { timeout: 60_000, interval: 200 }).toBeDefined().then(started)
    docker.kill()
    const stateOf = async () => (await service.client.scenarioRuns.get({ params: { id: lost ?? '' } })).state
    await expect.poll(stateOf, { timeout: 30_000 }).toBe('failed')
    await docker.revive()
    const job = await untilEnded(service.client, id)
    expect(job.benchmark_outcomes?.[0]?.scenario_outcomes[0]).toMatchObject({ state: 'COMPLETED', score: 1 })
    const response = await service.fetch(`/v1/scenarios/runs/${lost}/download_logs`, { method: 'POST' })
    const log = readZip(Buffer.from(await response.arrayBuffer())).find(({ name }) => name.endsWith('trial.log'))
    expect(log?.content.toString()).toMatch(
      /RuntimeError: .*The container engine at \S+ (stopped responding|can't be reached)/,
    )
    const all = { query: { all: true } }
    await expect.poll(() => docker.api.json('GET', '/containers/json', all), { timeout: 20_000 }).toEqual([])
    const networks = async () => (await docker.api.json<{ Name: string }[]>('GET', '/networks')).map(({ Name }) => Name)
    await expect.poll(networks, { timeout: 20_000 }).not.toContainEqual(expect.stringMatching(/^devdeck-dbx/))
  })
})
