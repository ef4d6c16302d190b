import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import Runloop from '@runloop/api-client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { strongestIsolation } from '#lib/service/testing/isolation.ts'
import { createJob, follow, makeScenarios, untilEnded } from '#lib/service/testing/jobs.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { writeTask } from '#lib/service/testing/trials.ts'
import { readZip } from '#lib/service/testing/zip.ts'
import { readManifest } from './definition.ts'
import { NamedAgents } from './named-agents.ts'

let service: TestService
beforeEach(async () => {
  service = await startService({
    isolation: strongestIsolation,
    agents: { quick: 'echo 1 >~/answer; echo "$HARBOR_MODEL_NAME" said' },
  })
})
afterEach(() => service.close())

const manifest = (name: string, text: string) => {
  const path = join(service.dataDir, 'agents', name, 'agent.toml')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
const outcomesOf = ({ benchmark_outcomes }: BenchmarkJob) =>
  (benchmark_outcomes ?? []).flatMap(({ scenario_outcomes }) => scenario_outcomes)
const runOn = async (count: number, agents: object[], more: object = {}) => {
  const { client } = service
  const scenario_ids = await makeScenarios(client, count)
  const agent_configs = agents.map((each) => ({ type: 'job_agent', ...each })) as { name: string; type: string }[]
  return createJob(client, { type: 'scenarios', scenario_ids, agent_configs, ...more })
}
const filesOf = async (scenarioRunId: string) => {
  const answer = await service.fetch(`/v1/scenarios/runs/${scenarioRunId}/download_logs`, { method: 'POST' })
  return readZip(Buffer.from(await answer.arrayBuffer()))
}

const trajectory = JSON.stringify({
  schema_version: 'ATIF-v1.4',
  steps: [{ step_id: 1, source: 'agent', message: 'done' }],
  final_metrics: { total_prompt_tokens: 7, total_completion_tokens: 3, total_cost_usd: 0.5 },
})

describe('a named agent', () => {
  it('runs from the calls of the public CLI', async () => {
    manifest(
      'claude-code',
      'command = \'[ "$ANTHROPIC_API_KEY" = k1 ] && echo 1 >~/answer; echo "$HARBOR_MODEL_NAME"\'\n',
    )
    const { client } = service
    await client.benchmarks.create({ body: { name: 'mine', scenario_ids: await makeScenarios(client, 1) } })
    const cli = new Runloop({ baseURL: service.url, bearerToken: service.key, maxRetries: 0 })
    // The calls of `benchmark-job run --agent claude-code:some-model --benchmark mine`.
    const { secrets } = await cli.secrets.list({ limit: 5000 })
    expect(secrets.some(({ name }) => name === 'BMJ_ANTHROPIC_API_KEY')).toBe(false)
    await cli.secrets.create({ name: 'BMJ_ANTHROPIC_API_KEY', value: 'k1' })
    const [own] = await Promise.all([
      cli.benchmarks.list({ limit: 100, search: 'mine' }),
      cli.benchmarks.listPublic({ limit: 100, search: 'mine' }),
    ])
    const created = await cli.benchmarkJobs.create({
      spec: {
        type: 'benchmark',
        benchmark_id: own.benchmarks[0]?.id ?? '',
        agent_configs: [
          {
            name: 'claude-code',
            type: 'job_agent',
            model_name: 'some-model',
            timeout_seconds: 7200,
            agent_environment: { secrets: { ANTHROPIC_API_KEY: 'BMJ_ANTHROPIC_API_KEY' } },
          },
        ],
        orchestrator_config: { n_attempts: 1, n_concurrent_trials: 10, quiet: false, timeout_multiplier: 1 },
      },
    })
    const job = await untilEnded(client, created.id)
    const [outcome] = outcomesOf(job)
    expect(outcome).toMatchObject({ state: 'COMPLETED', score: 1, usage: { n_input_tokens: null } })
    expect(outcome?.usage?.unknown_because).toMatch(/no trajectory/)
    const files = await filesOf(outcome?.scenario_run_id ?? '')
    const commandLog = files.find(({ name }) => name.endsWith('_agent_command.txt'))
    expect(commandLog?.content.toString()).toBe('some-model\n')
  })

  it('is a command from --agent, or a recipe', async () => {
    const job = await runOn(1, [{ name: 'quick', model_name: 'm' }])
    expect(outcomesOf(await untilEnded(service.client, job.id))[0]).toMatchObject({ state: 'COMPLETED', score: 1 })
    const recipes = new NamedAgents({ folder: service.dataDir, commands: {} })
    expect(recipes.names()).toEqual(['claude-code', 'codex', 'gemini-cli', 'goose', 'opencode'])
    for (const name of recipes.names()) expect(recipes.find(name)?.problems).toBeUndefined()
  })

  it('is installed once, and reports version, tokens and cost', async () => {
    await service.client.secrets.create({ body: { name: 'TOKEN', value: 'sesame-open' } })
    manifest(
      'mine',
      `
command = '''
[ "$KEY" = sesame-open ] && [ "$HARBOR_KWARG_TURNS" = 3 ] && [ "$GREETING" = hello ] && program >~/answer
echo '{"note": 1}'; echo "$KEY"
echo '{"usage": {"in": 10, "cached": 4, "out": 2}}'; echo '{"usage": {"in": 20, "cached": 5, "out": 3}}'
echo 'Total: $1,000.25'
'''
version_command = 'cat "$HARBOR_AGENT_FOLDER/stamp"'
programs = ["program"]
[install]
command = 'date +%s%N >stamp; mkdir bin; echo "echo 1" >bin/program; chmod +x bin/program; ln -s stamp link'
[env]
GREETING = "hello"
[secrets]
KEY = "TOKEN"
[kwargs]
turns = 2
[usage]
take = "sum"
input_tokens = "usage.in"
cache_tokens = "usage.cached"
output_tokens = ["usage.out"]
cost_usd = { pattern = 'Total: \\$([0-9.,]+)' }
`,
    )
    const job = await runOn(3, [{ name: 'mine', kwargs: { turns: 3 } }], {
      orchestrator_config: { n_concurrent_trials: 3 },
    })
    expect(job.job_spec?.agent_configs[0]?.agent_environment?.secrets).toEqual({ KEY: 'TOKEN' })
    const outcomes = outcomesOf(await untilEnded(service.client, job.id))
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({
        state: 'COMPLETED',
        score: 1,
        usage: { n_input_tokens: 30, n_cache_tokens: 9, n_output_tokens: 5, cost_usd: 1000.25, unknown_because: null },
      })
    expect(outcomes).toHaveLength(3)
    const { benchmark_outcomes } = await service.client.benchmarkJobs.get({ params: { id: job.id } })
    const id = benchmark_outcomes?.[0]?.benchmark_run_id ?? ''
    expect((await service.client.benchmarkRuns.get({ params: { id } })).usage).toEqual({
      n_input_tokens: 90,
      n_cache_tokens: 27,
      n_output_tokens: 15,
      cost_usd: 3000.75,
      unknown_because: null,
      n_with_tokens: 3,
      n_with_cost: 3,
    })
    expect(new Set(outcomes.map(({ agent_version }) => agent_version)).size).toBe(1)
    expect(outcomes[0]?.agent_version).toMatch(/^\d{19}$/)
    const texts = (await filesOf(outcomes[0]?.scenario_run_id ?? '')).map(({ content }) => content.toString())
    expect(texts.join('')).toContain('Total: $1,000.25')
    expect(texts.join('')).not.toContain('sesame-open')
  })

  it('keeps its trajectory and tokens after a timeout', async () => {
    manifest(
      'traced',
      `command = '''
echo 1 >~/answer
printf '%s' '${trajectory}' >"$HARBOR_AGENT_LOGS/out.json"
[ "$HARBOR_INSTRUCTION" = 0 ] || sleep infinity
'''
trajectory = "out.json"
`,
    )
    const job = await runOn(2, [{ name: 'traced', timeout_seconds: 2 }], {
      orchestrator_config: { n_concurrent_trials: 2 },
    })
    const outcomes = outcomesOf(await untilEnded(service.client, job.id))
    expect(outcomes.map(({ state }) => state).sort()).toEqual(['COMPLETED', 'TIMEOUT'])
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({
        usage: { n_input_tokens: 7, n_cache_tokens: null, n_output_tokens: 3, cost_usd: 0.5, unknown_because: null },
        trajectories: ['agent/trajectory.json'],
      })
      const files = await filesOf(outcome.scenario_run_id ?? '')
      const trajectoryLog = files.find(({ name }) => name.endsWith('_agent_trajectory.json'))
      expect(trajectoryLog?.content.toString()).toBe(trajectory)
    }
  })
})

it('reads the manifest in docs/agents.md', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../../docs/agents.md'), 'utf8')
  const [, example = ''] = /```toml\n([\s\S]*?)```/.exec(text) ?? []
  const { definition, problems } = readManifest('my-agent', 'docs/agents.md', example)
  expect(problems).toBeUndefined()
  expect(definition).toMatchObject({ needsModel: true, installSeconds: 360, usage: { take: 'last' } })
})

describe('a missing requirement of an agent', () => {
  it('rejects the job: a secret, a model, a definition', async () => {
    manifest('broken', 'command = "true"\n\n[usage]\ntakes = "sum"\n')
    const message = await runOn(1, [
      { name: 'claude-code' },
      { name: 'goose' },
      { name: 'opencode', model_name: 'mystery/x' },
      { name: 'broken' },
      { name: 'nobody' },
    ]).catch((error: Error) => error.message)
    const lines = String(message).split('\n')
    expect(lines[0]).toMatch(
      /agent_configs\[0\]\.agent_environment\.secrets: .*claude-code needs ANTHROPIC_API_KEY or CLAUDE_CODE_/,
    )
    expect(lines[1]).toMatch(/agent_configs\[1\]\.model_name: agent goose needs a model/)
    expect(lines[2]).toMatch(
      /agent_configs\[2\]\.model_name: agent opencode needs a model provider\/model from anthropic, openai/,
    )
    expect(lines[3]).toMatch(/agents\/broken\/agent\.toml line 4: usage has an unknown key: takes/)
    expect(lines[4]).toMatch(/there is no agent "nobody"; .*broken, claude-code, .*quick.*agents\/nobody/)
  })

  it('fails the trial: a program, an install', async () => {
    // The public CLI names its secrets so.
    await service.client.secrets.create({ body: { name: 'BMJ_KEY', value: 'x' } })
    manifest('absent', 'command = "true"\nprograms = ["no-such-program"]\n[secrets]\nKEY = "KEY"\n')
    manifest('uninstallable', 'command = "true"\n[install]\ncommand = "echo no route to registry >&2; exit 7"\n')
    const job = await runOn(1, [{ name: 'absent' }, { name: 'uninstallable' }])
    const ended = await untilEnded(service.client, job.id)
    const [absent, uninstallable] = outcomesOf(ended)
    expect(ended.state).toBe('failed')
    expect(absent).toMatchObject({ state: 'FAILED', failure_reason: { exception_type: 'AgentSetupError' } })
    expect(absent?.failure_reason?.exception_message).toMatch(
      /no-such-program is not installed in the devbox; install it .* agents\/absent\/agent\.toml/,
    )
    expect(uninstallable?.failure_reason?.exception_message).toMatch(
      /Agent uninstallable could not be installed: .* exit code 7: no route to registry/,
    )
  })
})

it('changes the concurrency of a running job', async () => {
  const { client } = service
  const wait = 'until [ -e /tmp/go ]; do sleep 0.05; done; echo 1 >~/answer'
  const job = await runOn(4, [{ name: 'w', kwargs: { command: wait } }], {
    orchestrator_config: { n_concurrent_trials: 1 },
  })
  const runId = async () =>
    (await follow(client, job.id, (each) => (each.in_progress_runs ?? []).length > 0)).in_progress_runs?.[0]
      ?.benchmark_run_id ?? ''
  const id = await runId()
  const running = async () => {
    const { runs } = await client.benchmarkRuns.scenarioRuns({ params: { id }, query: { limit: 100 } })
    return runs.filter(({ state }) => state === 'running')
  }
  await expect.poll(async () => (await running()).length).toBe(1)
  const changed = await client.benchmarkJobs.setConcurrency({
    params: { id: job.id },
    body: { n_concurrent_trials: 30 },
  })
  expect(changed.job_spec?.orchestrator_config?.n_concurrent_trials).toBe(30)
  expect(changed.warnings).toEqual([expect.stringMatching(/is 30, but this service runs at most 16 .*--max-trials/)])
  await expect.poll(async () => (await running()).length).toBe(4)
  const lowered = await client.benchmarkJobs.setConcurrency({
    params: { id: job.id },
    body: { n_concurrent_trials: 2 },
  })
  expect(lowered.warnings).toEqual([])
  for (const { devbox_id } of await running()) {
    await expect.poll(async () => (await client.devboxes.get({ params: { id: devbox_id } })).status).toBe('running')
    await client.executions.executeSync({ params: { id: devbox_id }, body: { command: 'touch /tmp/go' } })
  }
  expect((await untilEnded(client, job.id)).state).toBe('completed')
  await expect(
    client.benchmarkJobs.setConcurrency({ params: { id: job.id }, body: { n_concurrent_trials: 2 } }),
  ).rejects.toMatchObject({ status: 409 })
})

describe.runIf(strongestIsolation === 'bubblewrap')('a named agent in a Harbor job', () => {
  it('is rejected if the network policy blocks its host', async () => {
    const { client } = service
    manifest('caller', 'command = "true"\nnetwork = ["api.example.com", "git.example.org"]\n')
    const { id: network_policy_id } = await client.networkPolicies.create({
      body: { name: 'few', allow_all: false, allowed_hostnames: ['*.example.org'] },
    })
    const { id } = await client.scenarios.create({
      body: {
        name: 'bounded',
        input_context: { problem_statement: 'x' },
        environment_parameters: { launch_parameters: { network_policy_id } },
        scoring_contract: {
          scoring_function_parameters: [
            { name: 's', weight: 1, scorer: { type: 'bash_script_scorer', bash_script: 'echo score=1' } },
          ],
        },
      },
    })
    const agent_configs = [{ name: 'caller', type: 'job_agent' }]
    const job = await createJob(client, { type: 'scenarios', scenario_ids: [id], agent_configs })
    const [outcome] = outcomesOf(await untilEnded(client, job.id))
    expect(outcome?.failure_reason).toEqual({
      exception_type: 'AgentSetupError',
      exception_message: `Agent caller cannot start: network policy few (${network_policy_id}) does not allow api.example.com`,
    })
  })

  it('runs, and is rejected if the task has no network', async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'devdeck-agents-')))
    const verify = { 'tests/test.sh': '[ -s /app/made ] && echo 1 >/logs/verifier/reward.txt\n' }
    writeTask(join(root, 'set', 'open'), verify)
    writeTask(join(root, 'set', 'shut'), {
      ...verify,
      'task.toml': 'version = "1.0"\n[environment]\nallow_internet = false\n',
    })
    await service.close()
    service = await startService({ isolation: strongestIsolation, datasets: [root] })
    manifest(
      'worker',
      `command = '''
cat "$HARBOR_INSTRUCTION_FILE" >made && printf '%s' '${trajectory}' >"$HARBOR_AGENT_LOGS/trajectory.json"
'''
version = "2.1"
network = ["api.example.com"]
`,
    )
    const yaml = 'agents:\n  - name: worker\n    model_name: a/b\ndatasets:\n  - path: set\n'
    const job = await service.client.benchmarkJobs.create({ body: { spec: { type: 'harbor', inline_yaml: yaml } } })
    const outcomes = outcomesOf(await untilEnded(service.client, job.id))
    const of = (name: string) => outcomes.find(({ scenario_name }) => scenario_name === name)
    expect(of('open')).toMatchObject({
      state: 'COMPLETED',
      score: 1,
      agent_version: '2.1',
      usage: { n_input_tokens: 7, n_output_tokens: 3, cost_usd: 0.5 },
      trajectories: ['agent/trajectory.json'],
    })
    expect(of('shut')?.failure_reason).toEqual({
      exception_type: 'AgentSetupError',
      exception_message:
        'Agent worker cannot start: the task (network_mode, allow_internet) does not allow api.example.com',
    })
    const files = await filesOf(of('open')?.scenario_run_id ?? '')
    const result = files.find(({ name }) => /_result\.json$/.test(name))
    expect(JSON.parse(result?.content.toString() ?? '{}')).toMatchObject({
      agent_info: { name: 'worker', version: '2.1' },
      agent_result: { n_input_tokens: 7, n_cache_tokens: null, n_output_tokens: 3, cost_usd: 0.5 },
    })
    rmSync(root, { recursive: true })
  })
})
