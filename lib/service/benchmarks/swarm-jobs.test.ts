import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { runsLongSwarmTests } from '#lib/service/testing/has-swarm.ts'
import { agent, createJob, follow, invariantsOf, makeScenarios, untilEnded } from '#lib/service/testing/jobs.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { ownSwarm } from '#lib/service/testing/swarm.ts'

describe.runIf(runsLongSwarmTests)('a job over the nodes of a swarm', () => {
  let swarm: Awaited<ReturnType<typeof ownSwarm>>
  let service: TestService
  beforeAll(async () => {
    swarm = await ownSwarm()
    await swarm.image('base')
    const { manager, registry } = swarm
    const { NCPU } = await manager.api.json<{ NCPU: number }>('GET', '/info')
    service = await startService({
      engine: 'swarm',
      // Room for two devboxes with one core on each node.
      swarm: { url: manager.url, registry, placement: [], reserved: { cpu: NCPU / 2, memory: 0.1 } },
    })
  })
  afterAll(async () => {
    await service?.close()
    await swarm?.close()
  })

  it('scores every trial once though a node is lost, and leaves nothing on the node', async () => {
    const { client } = service
    const scenarios = await makeScenarios(client, 4)
    const { id } = await createJob(client, {
      type: 'scenarios',
      scenario_ids: scenarios,
      agent_configs: ['a', 'b', 'c'].map((name) => agent(name, `sleep ${agentSeconds}; echo 1 >~/answer`)),
      orchestrator_config: { n_concurrent_trials: 9 },
    })
    const check = invariantsOf(scenarios, 1)
    const waits = new Set<string>()
    const hasFinished = ({ benchmark_outcomes }: BenchmarkJob) =>
      benchmark_outcomes?.some(({ scenario_outcomes }) => scenario_outcomes.length > 0) ?? false
    await follow(client, id, hasFinished, (job) => {
      check(job)
      if (job.waiting) waits.add(job.waiting.message)
    })
    const [, , node] = swarm.nodes
    const runsAgent = async () => {
      const { devboxes } = await client.devboxes.list({ query: { status: 'running', node: node.hostname } })
      const startedMs = devboxes.map(({ state_transitions }) => state_transitions?.at(-1)?.transition_time_ms ?? 0)
      return startedMs.some((ms) => Date.now() - ms < (agentSeconds * 1000) / 2)
    }
    await expect.poll(runsAgent, { interval: 50 }).toBe(true)
    await node.kill()
    const job = await untilEnded(client, id, check)
    expect(job.state).toBe('completed')
    const scores = job.benchmark_outcomes?.map(({ n_completed, average_score }) => [n_completed, average_score])
    expect(scores).toEqual([
      [4, 1],
      [4, 1],
      [4, 1],
    ])
    expect([...waits]).toContain('3 trials wait for the cluster: 3 of 3 nodes full')
    expect(job.warnings).toContainEqual(expect.stringMatching(/^Node node-3 was lost: \d trials? ran again$/))
    await node.revive()
    const query = { all: true, filters: { label: ['devdeck.devbox'] } }
    await expect.poll(() => node.api.json('GET', '/containers/json', { query })).toEqual([])
  })
})

const agentSeconds = 2
