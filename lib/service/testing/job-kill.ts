import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createClient } from '#lib/client/client.ts'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { follow, invariantsOf, untilEnded } from './jobs.ts'
import { runCommand } from './process.ts'

interface Options {
  scenarios: number
  attempts: number
  concurrency: number
  /** Polling interval. */
  everyMs: number
  onProgress?: (finished: number, total: number) => void
}

export interface JobReport {
  trials: number
  /** Job records that were read and checked. */
  records: number
  seconds: number
  job: BenchmarkJob
  /** Devboxes left after the job ended. */
  devboxes: number
}

/** Quarters of the tasks that each agent solves. */
const skills = [4, 3, 2, 1]

/** Runs a job of trivial Harbor tasks with four agents and kills the service halfway. */
export const killJob = async (options: Options): Promise<JobReport> => {
  const { scenarios, attempts, concurrency, everyMs, onProgress } = options
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-job-'))
  const dataDir = join(folder, 'data')
  const flags = ['--port', '0', '--drain-seconds', '0', '--datasets', join(folder, 'tasks'), '--data-dir', dataDir]
  const start = () => {
    const started = runCommand(flags)
    const client = started.ready.then((baseUrl) => {
      const key = readFileSync(join(dataDir, 'api-key'), 'utf8').trim()
      return createClient({ baseUrl, headers: { authorization: `Bearer ${key}` } })
    })
    client.catch(() => undefined)
    return { ...started, client }
  }
  for (let i = 0; i < scenarios; i++) makeTask(join(folder, 'tasks/set', `task-${String(i).padStart(4, '0')}`), i % 4)
  let service = start()
  try {
    const startMs = performance.now()
    const client = await service.client
    const { id } = await client.benchmarkJobs.create({
      body: { spec: { type: 'harbor', inline_yaml: jobFile(attempts, concurrency) } },
    })
    // The response may arrive before the tasks have been read.
    const { job_spec } = await follow(client, id, ({ state }) => state !== 'queued')
    const total = scenarios * attempts * skills.length
    let records = 0
    const check = invariantsOf(job_spec?.scenario_ids ?? [], attempts)
    const onRecord = (job: BenchmarkJob) => {
      records++
      check(job)
      onProgress?.(finishedOf(job), total)
    }
    await follow(client, id, (job) => finishedOf(job) * 2 >= total, onRecord, everyMs)
    service.child.kill('SIGKILL')
    await service.ended
    service = start()
    const next = await service.client
    const job = await untilEnded(next, id, onRecord, everyMs)
    const seconds = (performance.now() - startMs) / 1000
    const { devboxes } = await next.devboxes.list({ query: { limit: 5000 } })
    const alive = devboxes.filter(({ status }) => status !== 'shutdown' && status !== 'failure').length
    return { trials: total, records, seconds, job, devboxes: alive }
  } finally {
    service.child.kill('SIGTERM')
    await service.ended
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Average score of each agent of `killJob`. */
export const expectedAverages = skills.map((quarters) => quarters / 4)

const finishedOf = ({ benchmark_outcomes }: BenchmarkJob) =>
  (benchmark_outcomes ?? []).reduce((sum, { scenario_outcomes }) => sum + scenario_outcomes.length, 0)

const jobFile = (attempts: number, concurrency: number) => `n_attempts: ${attempts}
n_concurrent_trials: ${concurrency}
agents:
${skills.map((skill) => `  - {name: command, model_name: skill/${skill}, kwargs: {command: 'echo ${skill} > skill'}}`).join('\n')}
datasets:
  - path: set
`

const makeTask = (folder: string, difficulty: number) => {
  const files = {
    'task.toml': 'version = "1.0"\n[environment]\nworkdir = "/app"\n',
    'instruction.md': 'Write your skill.',
    'environment/Dockerfile': 'FROM scratch\nWORKDIR /app\n',
    'tests/test.sh': `#!/bin/bash\necho $(( $(</app/skill) > ${difficulty} )) > /logs/verifier/reward.txt\n`,
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  chmodSync(join(folder, 'tests/test.sh'), 0o755)
}
