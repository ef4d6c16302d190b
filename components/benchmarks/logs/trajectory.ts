export interface TrajectoryCall {
  name: string
  input: string
  results: string[]
}

export interface TrajectoryStep {
  number: number
  /** user, agent, system or another value. */
  source: string
  message: string
  reasoning: string
  calls: TrajectoryCall[]
  observations: string[]
  model: string | null
  timestampMs: number | null
  tokens: { input: number | null; output: number | null; costUsd: number | null }
}

export interface Trajectory {
  version: string | null
  agent: string | null
  steps: TrajectoryStep[]
}

const maxTextLength = 100_000
const maxCalls = 200

/** Reads an ATIF trajectory. The file is untrusted: any part may be missing or malformed. Undefined without steps. */
export const readTrajectory = (text: string): Trajectory | undefined => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const steps = of(value, 'steps')
  if (!Array.isArray(steps)) return undefined
  const agent = of(value, 'agent')
  return {
    version: textOrNull(of(value, 'schema_version')),
    agent: [of(agent, 'name'), of(agent, 'version')].flatMap((part) => textOrNull(part) ?? []).join(' ') || null,
    steps: steps.map(stepOf),
  }
}

const stepOf = (step: unknown, index: number): TrajectoryStep => {
  const given = of(step, 'tool_calls')
  const results = of(of(step, 'observation'), 'results')
  const observed = (Array.isArray(results) ? results.slice(0, maxCalls) : []).map((result) => ({
    call: textOrNull(of(result, 'source_call_id')),
    text: textOf(of(result, 'content')),
  }))
  const calls = (Array.isArray(given) ? given.slice(0, maxCalls) : []).map((call) => {
    const id = textOrNull(of(call, 'tool_call_id'))
    const input = of(call, 'arguments')
    return {
      id,
      name: textOrNull(of(call, 'function_name')) ?? 'unnamed tool',
      input: cut(typeof input === 'string' ? input : input === undefined ? '' : JSON.stringify(input, null, 2)),
      results: observed.flatMap((each) => (id !== null && each.call === id ? [each.text] : [])),
    }
  })
  const known = new Set(calls.map(({ id }) => id))
  const metrics = of(step, 'metrics')
  return {
    number: index + 1,
    source: textOrNull(of(step, 'source')) ?? 'unknown',
    message: textOf(of(step, 'message')),
    reasoning: textOf(of(step, 'reasoning_content')),
    calls: calls.map(({ name, input, results: answers }) => ({ name, input, results: answers })),
    observations: observed.flatMap((each) => (each.call !== null && known.has(each.call) ? [] : [each.text])),
    model: textOrNull(of(step, 'model_name')),
    timestampMs: timeOf(of(step, 'timestamp')),
    tokens: {
      input: numberOf(of(metrics, 'prompt_tokens')),
      output: numberOf(of(metrics, 'completion_tokens')),
      costUsd: numberOf(of(metrics, 'cost_usd')),
    },
  }
}

const of = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined

const textOrNull = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? cut(value) : null)
const numberOf = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null)
const timeOf = (value: unknown): number | null => {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? null : ms
}

/** Content is a string or a list of parts; only text is shown. */
const textOf = (value: unknown): string => {
  if (typeof value === 'string') return cut(value)
  if (Array.isArray(value)) {
    const parts = value.map((part) => {
      if (typeof part === 'string') return part
      const text = of(part, 'text')
      return typeof text === 'string' ? text : `(${textOrNull(of(part, 'type')) ?? 'part'}, not shown)`
    })
    return cut(parts.join('\n'))
  }
  return value === null || value === undefined ? '' : cut(JSON.stringify(value, null, 2))
}

const cut = (text: string): string =>
  text.length > maxTextLength
    ? `${text.slice(0, maxTextLength)}\n… ${text.length - maxTextLength} more characters`
    : text
