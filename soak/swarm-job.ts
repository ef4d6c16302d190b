import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '#lib/client/client.ts'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { agent, createJob, follow, invariantsOf, makeScenarios, untilEnded } from '#lib/service/testing/jobs.ts'
import { runCommand } from '#lib/service/testing/process.ts'
import { ownSwarm, swarmFlags } from '#lib/service/testing/swarm.ts'

const scenarioCount = 30
const agents = ['a', 'b', 'c'].map((name) => agent(name, 'sleep 2; echo 1 >~/answer'))
const trials = scenarioCount * agents.length

/** A job with 90 trials on three nodes, during which a node loses its power and the service is killed. */
export const soakSwarmJob = async (): Promise<{ seconds: number; warnings: string[]; problems: string[] }> => {
  const swarm = await ownSwarm()
  const image = await swarm.image('base')
  const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-soak-'))
  const flags = ['--port', '0', '--data-dir', dataDir, '--image', image, ...swarmFlags(swarm.choice)]
  let service: ReturnType<typeof runCommand> | undefined
  const start = async () => {
    service = runCommand([...flags, '--stop-with-parent'])
    const baseUrl = await service.ready
    const key = readFileSync(join(dataDir, 'api-key'), 'utf8').trim()
    return createClient({ baseUrl, headers: { authorization: `Bearer ${key}` } })
  }
  try {
    const startMs = Date.now()
    const client = await start()
    const scenarios = await makeScenarios(client, scenarioCount)
    const { id } = await createJob(client, {
      type: 'scenarios',
      scenario_ids: scenarios,
      agent_configs: agents,
      orchestrator_config: { n_concurrent_trials: 12 },
    })
    const check = invariantsOf(scenarios, 1)
    const [, , node] = swarm.nodes
    await follow(client, id, (job) => finishedOf(job) >= trials / 3, check)
    await node.kill()
    await follow(client, id, (job) => finishedOf(job) >= (2 * trials) / 3, check)
    service?.child.kill('SIGKILL')
    await service?.ended
    await node.revive()
    const next = await start()
    const job = await untilEnded(next, id, check)
    const problems = (job.benchmark_outcomes ?? []).flatMap(({ agent_name, n_completed, average_score }) =>
      n_completed === scenarioCount && average_score === 1
        ? []
        : `agent ${agent_name}: ${n_completed} of ${scenarioCount} trials completed, score ${average_score}`,
    )
    if (finishedOf(job) !== trials) problems.push(`${finishedOf(job)} of ${trials} trials counted`)
    for (const { hostname, api } of swarm.nodes)
      for (const container of await leftOn(api)) problems.push(`container ${container} is left on ${hostname}`)
    return { seconds: (Date.now() - startMs) / 1000, warnings: job.warnings ?? [], problems }
  } finally {
    service?.child.kill('SIGTERM')
    await service?.ended
    rmSync(dataDir, { recursive: true, force: true })
    await swarm.close()
  }
}

const finishedOf = ({ benchmark_outcomes }: BenchmarkJob) =>
  (benchmark_outcomes ?? []).reduce((sum, { scenario_outcomes }) => sum + scenario_outcomes.length, 0)

const maxCleanUpMs = 60_000

/** Containers of devboxes on a node, after the time that their removal may take. */
const leftOn = async (api: Awaited<ReturnType<typeof ownSwarm>>['manager']['api']): Promise<string[]> => {
  const query = { all: true, filters: { label: ['devdeck.devbox'] } }
  for (const untilMs = Date.now() + maxCleanUpMs; ; ) {
    const containers = await api.json<{ Names: string[] }[]>('GET', '/containers/json', { query })
    if (containers.length === 0 || Date.now() > untilMs) return containers.flatMap(({ Names }) => Names)
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}
