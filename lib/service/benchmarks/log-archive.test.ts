import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JobRecord } from '#lib/service/store/benchmark-jobs.ts'
import type { BenchmarkRunRecord } from '#lib/service/store/benchmark-runs.ts'
import type { ScenarioRunRecord } from '#lib/service/store/scenario-runs.ts'
import { readZip } from '#lib/service/testing/zip.ts'
import { LogArchives } from './log-archive.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devdeck-logs-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const inFolder = (...path: string[]) => join(folder, ...path)
const put = (path: string, content: string | Buffer = path) => {
  mkdirSync(join(inFolder(path), '..'), { recursive: true })
  writeFileSync(inFolder(path), content)
}

const job = {
  create_time_ms: 0,
  source: { type: 'harbor', inline_yaml: 'agents: [{name: oracle}]\n' },
  plan: { harbor: null },
}

const archives = (
  runs: ScenarioRunRecord[],
  { secrets = {}, benchmarkRun }: { secrets?: Record<string, string>; benchmarkRun?: BenchmarkRunRecord } = {},
) =>
  new LogArchives({
    folderOf: (id) => inFolder('runs', id),
    devboxFolderOf: (id) => inFolder('devboxes', id),
    flush: async () => undefined,
    store: {
      scenarioRuns: { record: (id) => runs.find((each) => each.id === id), ofBenchmarkRun: () => runs },
      benchmarkRuns: { record: () => benchmarkRun },
      benchmarkJobs: { record: <Plan>() => job as unknown as JobRecord<Plan> },
      secrets: {
        reveal: (_, asked) =>
          Object.fromEntries(Object.entries(asked).map(([key, name]) => [key, secrets[name] ?? ''])),
      },
    },
  })

const run = (id: string, more: Partial<ScenarioRunRecord> = {}): ScenarioRunRecord => ({
  id,
  account: 'test',
  seq: 1,
  scenario_id: 'scn_1',
  scenario_name: 'hello',
  benchmark_run_id: null,
  devbox_id: 'dbx_1',
  name: null,
  state: 'completed',
  start_time_ms: 1_000_000,
  end_time_ms: 1_005_000,
  metadata: {},
  profile: {},
  score: 1,
  scoring_contract_result: null,
  rewards: null,
  outcome: null,
  failure: null,
  warnings: null,
  environment_differs: false,
  engine: null,
  agent_record: null,
  attempt: null,
  retry: null,
  replaced: false,
  ...more,
})

const benchmarkRun: BenchmarkRunRecord = {
  seq: 1,
  id: 'bmr_1',
  account: 'test',
  benchmark_id: null,
  name: 'a run',
  state: 'running',
  start_time_ms: 1_000_000,
  end_time_ms: null,
  score: null,
  metadata: {},
  profile: {},
  job_id: 'bmj_1',
  agent_index: 0,
  agent: null,
  planned_trials: null,
}

/** Content by name. */
const archived = async (record: ScenarioRunRecord, secrets?: Record<string, string>) =>
  contents(await buffer(await archives([record], { secrets }).ofScenarioRun(record.id)))

const contents = (bytes: Buffer) => {
  const entries = readZip(bytes)
  const byName = Object.fromEntries(entries.map(({ name, content }) => [name, content.toString()]))
  expect(Object.keys(byName), 'names are there once').toHaveLength(entries.length)
  return byName
}

describe('the archive of a scenario run', () => {
  it('is flat, with the id in front of each name', async () => {
    for (const file of ['agent/oracle.txt', 'verifier/reward.txt', 'trial.log']) put(`runs/scr_1/${file}`)
    const names = ['results.json', 'agent_oracle.txt', 'trial.log', 'verifier_reward.txt']
    expect(Object.keys(await archived(run('scr_1')))).toEqual(names.map((name) => `scr_1_${name}`))
  })

  it('has only results if the run wrote no logs', async () => {
    const failure = { exception_type: 'AgentTimeoutError', exception_message: 'too slow' }
    const entries = await archived(run('scr_1', { outcome: 'TIMEOUT', score: null, failure, devbox_id: null }))
    expect(Object.keys(entries)).toEqual(['scr_1_results.json'])
    expect(JSON.parse(entries['scr_1_results.json'] as string)).toMatchObject({
      scenario_run_id: 'scr_1',
      scenario_name: 'hello',
      state: 'TIMEOUT',
      score: null,
      duration_ms: 5000,
      failure_reason: failure,
    })
  })

  it('includes the devbox of a running scenario', async () => {
    put('devboxes/dbx_1/root/logs/agent/oracle.txt', 'so far')
    put('devboxes/dbx_1/log/1.jsonl')
    put('devboxes/dbx_1/executions/e1/stdout', 'output')
    put('devboxes/dbx_1/home/private')
    const going = await archived(run('scr_1', { state: 'running', end_time_ms: null }))
    expect(Object.keys(going)).toEqual([
      'scr_1_results.json',
      'scr_1_agent_oracle.txt',
      'scr_1_devbox_log_1.jsonl',
      'scr_1_devbox_executions_e1_stdout',
    ])
    expect(going['scr_1_agent_oracle.txt']).toBe('so far')
  })

  it('skips links and special files, and lists them', async () => {
    put('outside/secret', 'not for you')
    put('runs/scr_1/file')
    symlinkSync(inFolder('outside/secret'), inFolder('runs/scr_1/link'))
    symlinkSync(inFolder('outside'), inFolder('runs/scr_1/linked-folder'))
    execFileSync('mkfifo', [inFolder('runs/scr_1/pipe')])
    const entries = await archived(run('scr_1'))
    expect(Object.keys(entries)).toEqual(['scr_1_results.json', 'scr_1_file', 'scr_1_not-in-this-archive.txt'])
    expect(entries['scr_1_not-in-this-archive.txt']).toBe(
      'link: a symbolic link\nlinked-folder: a symbolic link\npipe: not a regular file\n',
    )
  })

  it('makes names safe and unique', async () => {
    for (const name of ['..\\..\\evil', 'new\nline', 'a\u202etxt', 'ünï 日本.log']) put(`runs/scr_1/${name}`)
    put('runs/scr_1/x/y', 'below')
    put('runs/scr_1/x_y', 'beside')
    writeFileSync(Buffer.concat([Buffer.from(inFolder('runs/scr_1/')), Buffer.of(0xff, 0xfe)]), 'no text')
    writeFileSync(Buffer.concat([Buffer.from(inFolder('runs/scr_1/')), Buffer.of(0xff, 0xfd)]), 'no text either')
    const entries = await archived(run('scr_1'))
    const names = ['results.json', '.._.._evil', 'new_line', 'a_txt', 'ünï 日本.log', 'x_y', 'x_y-2']
    expect(Object.keys(entries).sort()).toEqual(
      [...names, '\ufffd\ufffd', '\ufffd\ufffd-2'].map((name) => `scr_1_${name}`).sort(),
    )
    expect([entries.scr_1_x_y, entries['scr_1_x_y-2']].sort()).toEqual(['below', 'beside'])
  })

  it('masks secrets in files, names and results', async () => {
    put('runs/scr_1/log', `${'x'.repeat(256 * 1024 - 3)}hunter2 and ${'y'.repeat(512 * 1024)}hunter2`)
    put('runs/scr_1/hunter2.txt', 'other')
    const failure = { exception_type: 'Error', exception_message: 'wrong password hunter2' }
    const record = run('scr_1', { failure, profile: { secrets: { PASSWORD: 'pw' } } })
    const entries = await archived(record, { pw: 'hunter2' })
    expect(Object.keys(entries)).toContain('scr_1_***.txt')
    expect(JSON.stringify(entries)).not.toContain('hunter2')
    expect(entries.scr_1_log).toContain('*** and ')
  })
})

describe('the archive of a benchmark run', () => {
  it('has a folder per attempt, all results and the job file', async () => {
    put('runs/scr_1/agent/a.txt')
    put('runs/scr_2/agent/a.txt')
    put('runs/scr_3/agent/a.txt')
    const runs = [
      run('scr_1', { attempt: 0 }),
      run('scr_2', { attempt: 0, replaced: true }),
      run('scr_3', { attempt: 1 }),
      run('scr_4', { scenario_id: 'scn_2', scenario_name: '../../etc', devbox_id: null }),
      run('scr_5', { scenario_id: 'scn_3', scenario_name: 'C:\\x', devbox_id: null }),
      run('scr_6', { scenario_id: 'scn_4', scenario_name: '', devbox_id: null }),
    ]
    const entries = contents(await buffer(await archives(runs, { benchmarkRun }).ofBenchmarkRun('bmr_1')))
    expect(Object.keys(entries)).toEqual([
      'results.json',
      'job.yaml',
      'hello__1/scr_1_results.json',
      'hello__1/scr_1_agent/a.txt',
      'hello__1-2/scr_2_results.json',
      'hello__1-2/scr_2_agent/a.txt',
      'hello__2/scr_3_results.json',
      'hello__2/scr_3_agent/a.txt',
      '__.._etc__1/scr_4_results.json',
      'C__x__1/scr_5_results.json',
      '___1/scr_6_results.json',
    ])
    const results = JSON.parse(entries['results.json'] as string)
    expect(results).toMatchObject({ benchmark_run_id: 'bmr_1', state: 'running' })
    expect(results.scenario_runs.slice(0, 3)).toMatchObject([
      { scenario_run_id: 'scr_1', attempt: 1 },
      { scenario_run_id: 'scr_2', attempt: 1, replaced: true },
      { scenario_run_id: 'scr_3', attempt: 2 },
    ])
  })

  it('is byte-identical each time', async () => {
    put('runs/scr_1/b')
    put('runs/scr_1/a')
    const make = async () => buffer(await archives([run('scr_1')], { benchmarkRun }).ofBenchmarkRun('bmr_1'))
    expect((await make()).equals(await make())).toBe(true)
  })
})
