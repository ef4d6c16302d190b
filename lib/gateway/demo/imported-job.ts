import { Buffer } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { ZipFile } from 'yazl'

/** Invented rewards per agent and task; `null` is a timeout. */
const rewards: Record<string, Record<string, number | null>> = {
  'acme/large': {
    ...{ 'access-report': 1, 'count-errors': 1, 'decode-message': 1, 'fix-script': 1, 'flaky-fetch': 0, fizzbuzz: 1 },
    ...{ 'hello-file': 1, settings: 1, 'slow-answer': null, 'sort-names': 1, 'sum-column': 1, 'two-steps': 0.5 },
  },
  'acme/small': {
    ...{ 'access-report': 0.5, 'count-errors': 1, 'decode-message': 0, 'fix-script': 0, 'flaky-fetch': 0, fizzbuzz: 1 },
    ...{ 'hello-file': 1, settings: 0, 'slow-answer': null, 'sort-names': 1, 'sum-column': 0, 'two-steps': 0.5 },
  },
}

/** Zips a job folder in Harbor's format: one agent with two models on twelve tasks. */
export const importedJob = async (name: string): Promise<Blob> => {
  const endedMs = Date.now() - 24 * 3600 * 1000
  const startedMs = endedMs - 40 * 60 * 1000
  const runs = Object.entries(rewards)
  const trials = runs.flatMap(([model, byTask], run) =>
    Object.entries(byTask).map(([task, reward], i) => {
      const folder = `${task}__${model === 'acme/large' ? 'large' : 'small'}${10 + i}`
      return trialFiles(`${name}/${folder}`, { folder, task, model, reward, atMs: startedMs + (i * 3 + run) * 60_000 })
    }),
  )
  const files: [path: string, content: string | object][] = [
    [`${name}/config.json`, { job_name: name, n_attempts: 1, agents: runs.map(([model]) => agentOf(model)) }],
    [
      `${name}/result.json`,
      {
        id: randomUUID(),
        started_at: new Date(startedMs).toISOString(),
        finished_at: new Date(endedMs).toISOString(),
        n_total_trials: trials.length,
        stats: {},
      },
    ],
    ...trials.flat(),
  ]
  const archive = new ZipFile()
  for (const [path, content] of files) {
    const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2)
    archive.addBuffer(Buffer.from(text), path, { mtime: new Date(endedMs), mode: 0o100644 })
  }
  archive.end()
  return new Blob([new Uint8Array(await buffer(archive.outputStream))])
}

const agentOf = (model_name: string) => ({ name: 'terminus-2', model_name })

interface Trial {
  folder: string
  task: string
  model: string
  reward: number | null
  atMs: number
}

const trialFiles = (path: string, { folder, task, model, reward, atMs }: Trial): [string, string | object][] => {
  const timeAt = (seconds: number) => new Date(atMs + seconds * 1000).toISOString()
  const [provider, modelName] = model.split('/')
  const message = 'Agent execution timed out after 120.0 seconds'
  const result = {
    id: randomUUID(),
    task_name: task,
    trial_name: folder,
    source: 'tasks',
    config: { trial_name: folder, task: { path: `tasks/${task}` }, agent: agentOf(model) },
    agent_info: { name: 'terminus-2', version: '2.0.0', model_info: { name: modelName, provider } },
    agent_result: {
      n_input_tokens: 9000 + 250 * task.length,
      n_cache_tokens: 4000,
      n_output_tokens: 700 + 40 * task.length,
      cost_usd: model === 'acme/large' ? 0.09 : 0.012,
    },
    verifier_result: reward === null ? null : { rewards: { reward } },
    exception_info: reward === null ? { exception_type: 'AgentTimeoutError', exception_message: message } : null,
    started_at: timeAt(0),
    finished_at: timeAt(reward === null ? 130 : 45),
  }
  return [
    [`${path}/result.json`, result],
    [`${path}/trial.log`, `${timeAt(0)} Started ${folder}\n${timeAt(45)} ${reward === null ? message : 'Verified'}\n`],
    ...(reward === null
      ? []
      : ([
          [`${path}/verifier/reward.txt`, `${reward}\n`],
          [`${path}/verifier/test-stdout.txt`, `${task}: reward ${reward}\n`],
        ] satisfies [string, string][])),
  ]
}
