import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { strongestIsolation } from '#lib/service/testing/isolation.ts'
import { follow, invariantsOf, untilEnded } from '#lib/service/testing/jobs.ts'
import { runCommand } from '#lib/service/testing/process.ts'

/** Quarters of the tasks that each agent solves. */
const skills = [4, 3, 2, 1]
const tasks = 4

it.runIf(strongestIsolation === 'bubblewrap')('a job stays correct when its service is killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-job-'))
  const dataDir = join(folder, 'data')
  for (let i = 0; i < tasks; i++) makeTask(join(folder, 'tasks/set', `task-${i}`), i % 4)
  const start = async () => {
    const flags = ['--port', '0', '--drain-seconds', '0', '--datasets', join(folder, 'tasks'), '--data-dir', dataDir]
    service = runCommand(flags)
    const baseUrl = await service.ready
    const key = readFileSync(join(dataDir, 'api-key'), 'utf8').trim()
    return createClient({ baseUrl, headers: { authorization: `Bearer ${key}` } })
  }
  let service: ReturnType<typeof runCommand> | undefined
  onTestFinished(async () => {
    service?.child.kill('SIGTERM')
    await service?.ended
    rmSync(folder, { recursive: true, force: true })
  })
  const client = await start()
  const { id } = await client.benchmarkJobs.create({ body: { spec: { type: 'harbor', inline_yaml: jobFile } } })
  // The response may arrive before the tasks have been read.
  const { job_spec } = await follow(client, id, ({ state }) => state !== 'queued')
  const check = invariantsOf(job_spec?.scenario_ids ?? [], 1)
  await follow(client, id, (job) => finishedOf(job) * 2 >= tasks * skills.length, check)
  service?.child.kill('SIGKILL')
  await service?.ended
  const next = await start()
  const job = await untilEnded(next, id, check)
  expect(job.state).toBe('completed')
  expect(finishedOf(job)).toBe(tasks * skills.length)
  expect(job.benchmark_outcomes?.map(({ average_score }) => average_score)).toEqual(skills.map((each) => each / 4))
  const { devboxes } = await next.devboxes.list({ query: { limit: 5000 } })
  expect(devboxes.filter(({ status }) => status !== 'shutdown' && status !== 'failure')).toEqual([])
})

const finishedOf = ({ benchmark_outcomes }: BenchmarkJob) =>
  (benchmark_outcomes ?? []).reduce((sum, { scenario_outcomes }) => sum + scenario_outcomes.length, 0)

const jobFile = `n_concurrent_trials: 3
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
