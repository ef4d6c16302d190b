import * as z from 'zod/mini'
import type { AgentConfig } from '#lib/contract/benchmark-jobs.ts'
import { optional } from './json-file.ts'

const TrialsByKey = z.record(z.string(), z.array(z.string()))
const Eval = z.object({
  reward_stats: optional(z.record(z.string(), TrialsByKey)),
  exception_stats: optional(TrialsByKey),
})

/** Rebuilds the records of trials whose folders are missing from a job's statistics, by trial name. */
export const trialsOfStatistics = (evals: Record<string, unknown>, finished_at: string | null): Map<string, object> => {
  const records = new Map<string, object>()
  for (const [key, statistics] of Object.entries(evals)) {
    const { reward_stats, exception_stats } = Eval.safeParse(statistics).data ?? {}
    const rewards = new Map<string, Record<string, number>>()
    for (const [metric, trialsByValue] of Object.entries(reward_stats ?? {}))
      for (const [value, names] of Object.entries(trialsByValue))
        for (const name of names) rewards.set(name, { ...rewards.get(name), [metric]: Number(value) })
    const exceptions = new Map(
      Object.entries(exception_stats ?? {}).flatMap(([type, names]) => names.map((name) => [name, type] as const)),
    )
    const [agent] = agentOfEval(key)
    for (const trial_name of new Set([...rewards.keys(), ...exceptions.keys()]))
      records.set(trial_name, {
        trial_name,
        config: { agent },
        source: key.split('__').at(-1),
        verifier_result: { rewards: rewards.get(trial_name) ?? null },
        exception_info: exceptions.get(trial_name) ?? null,
        finished_at,
      })
  }
  return records
}

/** `agent__model__dataset` or `agent__dataset`. */
export const agentOfEval = (name: string): AgentConfig[] => {
  const [agent, model, ...source] = name.split('__')
  return agent ? [{ name: agent, type: 'job_agent', model_name: source.length > 0 ? (model ?? null) : null }] : []
}
