import { Buffer } from 'node:buffer'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { BenchmarkJob, BenchmarkJobImport, BenchmarkJobImported } from '#lib/contract/benchmark-jobs.ts'
import { zip } from '#lib/service/benchmarks/zip.ts'
import type { TestService } from './service.ts'

/** Files by their path in an archive; an object is written as JSON. */
export type Files = Record<string, string | object>

export const zipOf = async (files: Files): Promise<Blob> => {
  const entries = Object.entries(files).map(([name, content]) => ({
    name,
    modifiedMs: Date.UTC(2026, 10, 2, 12),
    content: Readable.from([Buffer.from(typeof content === 'string' ? content : JSON.stringify(content))]),
  }))
  return new Blob([new Uint8Array(await buffer(zip(Readable.from(entries))))])
}

interface Trial {
  task: string
  reward?: number
  exception?: string
  agent?: string
  model?: string
  /** Seconds after the start of the job. */
  at?: number
  more?: object
}

const timeAt = (seconds: number) => new Date(Date.UTC(2026, 10, 1, 12) + seconds * 1000).toISOString()

/** A trial's result.json, as Harbor 0.22 writes it. */
export const trialResult = (
  name: string,
  { task, reward, exception, agent = 'codex', model = 'acme/large', at = 0, more }: Trial,
) => {
  const [provider, modelName] = model.split('/')
  return {
    id: `0f0e-${name}`,
    task_name: task,
    trial_name: name,
    trial_uri: `file:///jobs/nightly/${name}`,
    source: 'shop',
    task_checksum: `sum-of-${task}`,
    config: {
      trial_name: name,
      task: { path: `/data/shop/${task}` },
      agent: { name: agent, model_name: model, kwargs: {} },
    },
    agent_info: { name: agent, version: '1.2.3', model_info: { name: modelName, provider } },
    agent_result: { n_input_tokens: 1200, n_cache_tokens: 200, n_output_tokens: 300, cost_usd: 0.25, metadata: null },
    verifier_result: reward === undefined ? null : { rewards: { reward } },
    exception_info:
      exception === undefined
        ? null
        : {
            exception_type: exception,
            exception_message: 'it broke',
            exception_traceback: '',
            occurred_at: timeAt(at),
          },
    started_at: timeAt(at),
    finished_at: timeAt(at + 60),
    ...more,
  }
}

export const harborJob = (trials: Record<string, Trial>, more: object = {}): Files => ({
  'nightly/config.json': { job_name: 'nightly', n_attempts: 2, agents: [{ name: 'codex', model_name: 'acme/large' }] },
  'nightly/result.json': {
    id: '5c1c0f6e-0000-4000-8000-000000000001',
    started_at: timeAt(0),
    finished_at: timeAt(3600),
    n_total_trials: Object.keys(trials).length,
    stats: {},
    ...more,
  },
  ...Object.fromEntries(
    Object.entries(trials).flatMap(([name, trial]) => [
      [`nightly/${name}/result.json`, trialResult(name, trial)],
      [`nightly/${name}/trial.log`, `log of ${name}\n`],
      [`nightly/${name}/verifier/reward.txt`, `${trial.reward ?? ''}`],
    ]),
  ),
})

export const sendJob = async (service: TestService, file: Blob, choices: BenchmarkJobImport = {}) => {
  const form = new FormData()
  for (const [name, value] of Object.entries(choices)) form.append(name, value)
  form.append('file', file, 'job.zip')
  const response = await service.fetch('/v1/benchmark_jobs/import', { method: 'POST', body: form })
  return { status: response.status, body: await response.json() }
}

export const importJob = async (
  service: TestService,
  files: Files | Blob,
  choices?: BenchmarkJobImport,
): Promise<BenchmarkJobImported & { job: BenchmarkJob }> => {
  const { status, body } = await sendJob(service, files instanceof Blob ? files : await zipOf(files), choices)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return { ...body, job: await service.client.benchmarkJobs.get({ params: { id: body.job_id } }) }
}

/** The zip of the first run's logs. */
export const logsOf = async (service: TestService, job: BenchmarkJob): Promise<Blob> => {
  const id = job.benchmark_outcomes?.[0]?.benchmark_run_id
  const response = await service.fetch(`/v1/benchmark_runs/${id}/download_logs`, { method: 'POST' })
  return response.blob()
}
