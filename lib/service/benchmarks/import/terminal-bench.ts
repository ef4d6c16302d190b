import { join } from 'node:path'
import * as z from 'zod/mini'
import { OptionalCount, OptionalText, optional, readJson } from './json-file.ts'

/** Failure modes of Terminal-Bench 1 as Harbor's exceptions. */
const exceptions: Record<string, string> = {
  agent_timeout: 'AgentTimeoutError',
  test_timeout: 'VerifierTimeoutError',
  parse_error: 'VerifierOutputParseError',
  context_length_exceeded: 'ContextWindowExceededError',
  output_length_exceeded: 'OutputTokenExceededError',
}
const noFailure = ['unset', 'none']

const Trial = z.object({
  id: OptionalText,
  trial_name: OptionalText,
  task_id: OptionalText,
  is_resolved: z.nullable(z.boolean()),
  failure_mode: OptionalText,
  total_input_tokens: z.optional(z.unknown()),
  total_output_tokens: z.optional(z.unknown()),
  trial_started_at: OptionalText,
  trial_ended_at: OptionalText,
})

const Run = z.object({
  run_id: OptionalText,
  uuid: OptionalText,
  agent_name: OptionalText,
  model_name: OptionalText,
  dataset_name: OptionalText,
  start_time: OptionalText,
  end_time: OptionalText,
  task_ids: optional(z.array(z.unknown())),
  n_attempts: OptionalCount,
})
type Run = z.output<typeof Run>

/** Converts a trial of Terminal-Bench 1 to Harbor's format, and returns any other record unchanged. */
export const toHarborRecord = (record: unknown): unknown => {
  const parsed = Trial.safeParse(record)
  if (!parsed.success) return record
  const { is_resolved, failure_mode, task_id, trial_started_at, trial_ended_at, ...trial } = parsed.data
  const hasFailed = failure_mode !== null && !noFailure.includes(failure_mode)
  return {
    id: trial.id,
    trial_name: trial.trial_name,
    task_name: task_id,
    verifier_result: is_resolved === null ? null : { rewards: { reward: Number(is_resolved) } },
    exception_info: hasFailed
      ? { exception_type: exceptions[failure_mode] ?? failure_mode, exception_message: failure_mode }
      : null,
    agent_result: { n_input_tokens: trial.total_input_tokens, n_output_tokens: trial.total_output_tokens },
    started_at: trial_started_at,
    finished_at: trial_ended_at,
  }
}

export const terminalBenchRun = async (folder: string): Promise<Run | undefined> => {
  const read = await readJson(join(folder, 'run_metadata.json'))
  const parsed = 'value' in read ? Run.safeParse(read.value) : undefined
  return parsed?.success ? parsed.data : undefined
}

export const plannedTrials = (run: Run | undefined): number | null =>
  run?.task_ids ? run.task_ids.length * (run.n_attempts ?? 1) : null
