import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { trialResult } from '#lib/service/testing/harbor-job.ts'
import { runCommand } from '#lib/service/testing/process.ts'

const trials = 10_000
const limitSeconds = 60

/** Imports a job of 10,000 trials with the command line: processor time of command and service, and other requests. */
export const benchImport = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-bench-'))
  const dataDir = join(folder, 'data')
  const service = runCommand(['--port', '0', '--isolation', 'none', '--data-dir', dataDir])
  try {
    const address = await service.ready
    const { pid = 0 } = service.child
    writeJob(join(folder, 'job'))
    const before = cpuSeconds(pid)
    const delays = pollUntil(
      `${address}/v1/benchmark_jobs?limit=1`,
      readFileSync(join(dataDir, 'api-key'), 'utf8').trim(),
    )
    const main = join(import.meta.dirname, '../lib/service/main.ts')
    const command = `TIMEFORMAT='%U %S'; time "$0" "${main}" import "${join(folder, 'job')}" --data-dir "${dataDir}"`
    const startMs = performance.now()
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', command, process.execPath])
    const seconds = (performance.now() - startMs) / 1000
    const slowest = Math.max(...(await delays.stop()))
    const [user = 0, system = 0] = (stderr.trim().split('\n').at(-1) ?? '').split(' ').map(Number)
    const ofService = cpuSeconds(pid) - before
    const total = user + system + ofService
    console.log(stdout.trim())
    console.log(
      `processor time ${total.toFixed(1)} s (<= ${limitSeconds}): service ${ofService.toFixed(1)} s, command ${(user + system).toFixed(1)} s; ${seconds.toFixed(1)} s elapsed`,
    )
    console.log(`slowest other request ${slowest.toFixed(0)} ms; peak memory of the service ${peakMb(pid)} MB`)
  } finally {
    service.child.kill('SIGTERM')
    await service.ended
    rmSync(folder, { recursive: true, force: true })
  }
}

const line = 'step 17: ran pytest -q in /app, 3 passed, 1 failed, 0.42 s; reading src/index.ts and src/store.ts next\n'

/** About 40 KB per trial, in seven files. */
const writeJob = (folder: string) => {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ job_name: 'large', n_attempts: 5 }))
  writeFileSync(
    join(folder, 'result.json'),
    JSON.stringify({ id: 'large', finished_at: '2026-11-01T13:00:00Z', n_total_trials: trials }),
  )
  for (let at = 0; at < trials; at++) {
    const task = `task-${at % 500}`
    const name = `${task}__${at.toString(36).padStart(7, '0')}`
    const trial = join(folder, name)
    for (const part of ['agent', 'verifier']) mkdirSync(join(trial, part), { recursive: true })
    const result = trialResult(name, { task, reward: at % 3 === 0 ? 1 : 0, agent: `agent-${at % 4}`, at })
    writeFileSync(join(trial, 'result.json'), JSON.stringify(result, null, 2))
    writeFileSync(join(trial, 'config.json'), JSON.stringify(result.config, null, 2))
    writeFileSync(join(trial, 'trial.log'), line.repeat(20))
    writeFileSync(join(trial, 'agent/trajectory.json'), JSON.stringify({ steps: Array(150).fill({ text: line }) }))
    writeFileSync(join(trial, 'agent/agent.txt'), line.repeat(100))
    writeFileSync(join(trial, 'verifier/test-stdout.txt'), line.repeat(30))
    writeFileSync(join(trial, 'verifier/reward.txt'), '1')
  }
}

const ticksPerSecond = 100

const cpuSeconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

const peakMb = (pid: number): number =>
  Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)

const pollUntil = (url: string, key: string) => {
  const times: number[] = []
  let isOver = false
  const polled = (async () => {
    while (!isOver) {
      const startMs = performance.now()
      await (await fetch(url, { headers: { authorization: `Bearer ${key}` } })).text()
      times.push(performance.now() - startMs)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })()
  return {
    stop: async () => {
      isOver = true
      await polled
      return times
    },
  }
}
