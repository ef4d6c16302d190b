import type { RunLogFile } from '#lib/protocol/run-logs.ts'

/** A file of one attempt, by the name it had before it came into the archive of its run: `verifier/reward.txt`. */
export interface AttemptFile {
  name: string
  file: RunLogFile
}

/** The archive of a run has the files of an attempt in a folder of its own, each with the id of the scenario run before it. */
export const filesOfAttempt = (files: readonly RunLogFile[], scenarioRunId: string): AttemptFile[] =>
  files.flatMap((file) => {
    const at = file.path.indexOf(`${scenarioRunId}_`)
    const isWhole = at === 0 || file.path[at - 1] === '/'
    return at === -1 || !isWhole ? [] : [{ name: file.path.slice(at + scenarioRunId.length + 1), file }]
  })

/** Where a verifier of Harbor leaves what it found. */
export const isRewardFile = ({ name }: AttemptFile): boolean => /(^|\/)verifier\/reward\.(txt|json)$/.test(name)

/** Logs that tell most of what happened come first: the agent's, the trial's, the verifier's, then those of commands. */
const tellingLogs = [
  /(^|\/)agent\/[^/]+\.(txt|log)$/,
  /^trial\.log$/,
  /(^|\/)verifier\/.*(stdout|\.log)/,
  /stdout/,
  /\.log$/,
]

/** The logs of an attempt that can be opened, the most telling first. */
export const logsOfAttempt = (files: readonly AttemptFile[]): AttemptFile[] => {
  const rank = ({ name }: AttemptFile) => tellingLogs.findIndex((pattern) => pattern.test(name))
  return files
    .filter((file) => rank(file) !== -1 && file.file.refusal === null)
    .toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1))
}

export interface Phase {
  name: string
  /** Null while it goes on, or where its end was not written. */
  duration_ms: number | null
}

export interface AttemptRecord {
  phases: readonly Phase[]
  /** By the names the verifier gave them. */
  rewards: Readonly<Record<string, number>>
}

const phaseWords: Record<string, string> = {
  environment_setup: 'Environment',
  agent_setup: 'Agent set-up',
  agent_execution: 'Agent',
  verifier: 'Verifier',
}

/** What the result.json of a trial says, in Harbor's words; null for a file that is none. Who wrote it may have been the agent. */
export const attemptRecord = (text: string): AttemptRecord | null => {
  const result = jsonObject(text)
  if (!result) return null
  const phases = Object.entries(phaseWords).flatMap(([key, name]): Phase[] => {
    const times = asObject(result[key])
    const [start, end] = [Date.parse(String(times?.started_at)), Date.parse(String(times?.finished_at))]
    if (Number.isNaN(start)) return []
    return [{ name, duration_ms: Number.isNaN(end) || end < start ? null : end - start }]
  })
  const rewards = Object.entries(asObject(asObject(result.verifier_result)?.rewards) ?? {})
  return {
    phases,
    rewards: Object.fromEntries(rewards.filter((each): each is [string, number] => typeof each[1] === 'number')),
  }
}

const jsonObject = (text: string): Record<string, unknown> | null => {
  try {
    return asObject(JSON.parse(text))
  } catch {
    // The file was cut off, or another program has written it.
    return null
  }
}

const asObject = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null
