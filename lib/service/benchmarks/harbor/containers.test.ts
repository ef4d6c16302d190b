import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BenchmarkJob, ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import { sharedDocker, type TestDocker } from '#lib/service/testing/docker.ts'
import { dockerTasks, writeDockerTask } from '#lib/service/testing/docker-tasks.ts'
import { hasDocker } from '#lib/service/testing/has-docker.ts'
import { createJob, untilEnded } from '#lib/service/testing/jobs.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { readZip } from '#lib/service/testing/zip.ts'

describe.runIf(hasDocker)('a Harbor job with a container engine', () => {
  let docker: TestDocker
  let service: TestService
  let datasets: string
  let job: BenchmarkJob
  beforeAll(async () => {
    docker = await sharedDocker()
    await docker.image('base')
    datasets = realpathSync(mkdtempSync(join(tmpdir(), 'devdeck-docker-tasks-')))
    for (const [name, task] of Object.entries(dockerTasks)) writeDockerTask(join(datasets, 'tasks', name), task)
    service = await startService({ engine: docker.url, datasets: [datasets], maxTrials: 4 })
    const inline_yaml = 'n_concurrent_trials: 4\nagents: [{ name: oracle }]\ndatasets: [{ path: tasks }]\n'
    const { id } = await createJob(service.client, { type: 'harbor', inline_yaml })
    job = await untilEnded(service.client, id)
  })
  afterAll(async () => {
    await service?.close()
    rmSync(datasets, { recursive: true, force: true })
  })

  const outcomes = () => job.benchmark_outcomes?.[0]?.scenario_outcomes ?? []
  const resultOf = ({ score, failure_reason }: ScenarioOutcome) => failure_reason?.exception_type ?? score

  it('gives every task the reward that Harbor gives it', () => {
    const results = Object.fromEntries(outcomes().map((each) => [each.scenario_name, resultOf(each)]))
    const expected = Object.fromEntries(Object.entries(dockerTasks).map(([name, task]) => [name, task.expected]))
    expect(results, JSON.stringify(outcomes(), null, 1)).toEqual(expected)
  })

  it('reports the engine, and that no environment differs', () => {
    for (const { scenario_name, engine, environment_differs } of outcomes()) {
      expect(environment_differs, scenario_name ?? '').toBe(false)
      expect(engine, scenario_name ?? '').toBe('container')
    }
  })

  it('installs a named agent as root in the container and runs it as the user of the image', async () => {
    const folder = join(service.dataDir, 'agents', 'helper')
    mkdirSync(folder, { recursive: true })
    const install = 'mkdir bin && echo "echo $(id -un) installed, >&2; id -un" >bin/helper && chmod +x bin/helper'
    writeFileSync(
      join(folder, 'agent.toml'),
      `command = "helper >who"\nprograms = ["helper"]\n[install]\ncommand = '${install}'\n`,
    )
    const inline_yaml = 'agents: [{ name: helper }]\ndatasets: [{ path: tasks, task_names: [user] }]\n'
    const { id } = await createJob(service.client, { type: 'harbor', inline_yaml })
    const { benchmark_outcomes } = await untilEnded(service.client, id)
    expect(benchmark_outcomes?.[0]?.scenario_outcomes[0]).toMatchObject({ score: 1, failure_reason: null })
    const scenarioRun = benchmark_outcomes?.[0]?.scenario_outcomes[0]?.scenario_run_id
    const response = await service.fetch(`/v1/scenarios/runs/${scenarioRun}/download_logs`, { method: 'POST' })
    const output = readZip(Buffer.from(await response.arrayBuffer())).find(({ name }) => name.endsWith('command.txt'))
    expect(output?.content.toString()).toBe('root installed,\n')
  })

  it('leaves only labeled images behind', async () => {
    const left = async (path: string, key?: string) => {
      const all = await docker.api.json<Record<string, unknown>>('GET', path, { query: { all: true } })
      const list = (key ? all[key] : all) as { Labels: Record<string, string> | null }[] | null
      return (list ?? []).filter(({ Labels }) => Labels && 'devdeck.beside' in Labels)
    }
    const label = [`devdeck.service=${service.serviceId}`]
    const devboxes = () => docker.api.json('GET', '/containers/json', { query: { all: true, filters: { label } } })
    await expect.poll(devboxes).toEqual([])
    expect(await left('/containers/json')).toEqual([])
    expect(await left('/networks')).toEqual([])
    expect(await left('/volumes', 'Volumes')).toEqual([])
    const images = await docker.api.json<{ RepoTags: string[] }[]>('GET', '/images/json', {
      query: { filters: { label: ['devdeck.task'] } },
    })
    expect(images.length).toBeGreaterThan(20)
    for (const { RepoTags } of images) expect(RepoTags[0]).toMatch(/^devdeck\/task:/)
  })
})
