import type { RunLogFile } from '#lib/protocol/run-logs.ts'

/** A file of one attempt with its original name: `verifier/reward.txt`. */
export interface AttemptFile {
  name: string
  file: RunLogFile
}

/** In the archive of a run, the scenario run id precedes the name of each file. */
export const filesOfAttempt = (files: readonly RunLogFile[], scenarioRunId: string): AttemptFile[] =>
  files.flatMap((file) => {
    const at = file.path.indexOf(`${scenarioRunId}_`)
    const isWhole = at === 0 || file.path[at - 1] === '/'
    return at === -1 || !isWhole ? [] : [{ name: file.path.slice(at + scenarioRunId.length + 1), file }]
  })

export const isRewardFile = ({ name }: AttemptFile): boolean => /(^|\/)verifier\/reward\.(txt|json)$/.test(name)

/** Most useful first: agent, trial, verifier, then commands. */
const logPatterns = [
  /(^|\/)agent\/[^/]+\.(txt|log)$/,
  /^trial\.log$/,
  /(^|\/)verifier\/.*(stdout|\.log)/,
  /stdout/,
  /\.log$/,
]

export const logsOfAttempt = (files: readonly AttemptFile[]): AttemptFile[] => {
  const rank = ({ name }: AttemptFile) => logPatterns.findIndex((pattern) => pattern.test(name))
  return files
    .filter((file) => rank(file) !== -1 && file.file.refusal === null)
    .toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1))
}

export interface Phase {
  name: string
  /** Null without a recorded end. */
  duration_ms: number | null
}

export interface AttemptRecord {
  phases: readonly Phase[]
  rewards: Readonly<Record<string, number>>
}

const phaseNames: Record<string, string> = {
  environment_setup: 'Environment',
  agent_setup: 'Agent setup',
  agent_execution: 'Agent',
  verifier: 'Verifier',
}

/** Parses Harbor's result.json, which the agent may have tampered with. */
export const attemptRecord = (text: string): AttemptRecord | null => {
  const result = jsonObject(text)
  if (!result) return null
  const phases = Object.entries(phaseNames).flatMap(([key, name]): Phase[] => {
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
    // Truncated or written by another program.
    return null
  }
}

const asObject = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null
