import { createContext, Script } from 'node:vm'
import type { AgentUsage } from '#lib/contract/agent-usage.ts'
import { jsonOf } from '#lib/service/kit/json.ts'
import type { UsageRule, UsageSource } from './definition.ts'

/** Time limit for all patterns of a rule: a crafted line may take forever. */
const maxMatchMs = 1000
const maxDepth = 20

type Figure = 'n_input_tokens' | 'n_cache_tokens' | 'n_output_tokens' | 'cost_usd'

export const unknownUsage = (reason: string): AgentUsage => ({
  n_input_tokens: null,
  n_cache_tokens: null,
  n_output_tokens: null,
  cost_usd: null,
  unknown_because: reason,
})

export const usageByRule = (rule: UsageRule, text: string | undefined): AgentUsage => {
  if (text === undefined) return unknownUsage(`the agent did not write ${rule.file}`)
  const values = jsonValuesOf(text)
  const figure = (sources: readonly UsageSource[]): number | null => {
    const found = sources.map((source) => {
      const numbers = 'path' in source ? values.flatMap((value) => atPath(value, source.path)) : matches(source, text)
      if (numbers.length === 0) return null
      return rule.take === 'sum' ? numbers.reduce((sum, each) => sum + each, 0) : (numbers.at(-1) as number)
    })
    const known = found.filter((each) => each !== null)
    return known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0)
  }
  return checked(
    {
      n_input_tokens: figure(rule.input),
      n_cache_tokens: figure(rule.cache),
      n_output_tokens: figure(rule.output),
      cost_usd: figure(rule.cost),
    },
    `${rule.file} does not contain the numbers of the usage rule`,
  )
}

/** Reads the final metrics of an ATIF trajectory; undefined if the text is not one. */
export const usageOfTrajectory = (text: string): AgentUsage | undefined => {
  const trajectory = jsonOf(text)
  if (typeof trajectory !== 'object' || trajectory === null) return undefined
  if (!Array.isArray((trajectory as { steps?: unknown }).steps)) return undefined
  const at = (key: string) => atPath(trajectory, `final_metrics.${key}`)[0] ?? null
  return checked(
    {
      n_input_tokens: at('total_prompt_tokens'),
      n_cache_tokens: at('total_cached_tokens'),
      n_output_tokens: at('total_completion_tokens'),
      cost_usd: at('total_cost_usd'),
    },
    'the trajectory has no final_metrics',
  )
}

const checked = (figures: Record<Figure, number | null>, reason: string): AgentUsage => {
  const sound = (value: number | null, isWhole: boolean) =>
    value !== null && value >= 0 && value <= Number.MAX_SAFE_INTEGER && (!isWhole || Number.isInteger(value))
      ? value
      : null
  const usage = {
    n_input_tokens: sound(figures.n_input_tokens, true),
    n_cache_tokens: sound(figures.n_cache_tokens, true),
    n_output_tokens: sound(figures.n_output_tokens, true),
    cost_usd: sound(figures.cost_usd, false),
  }
  const isUnknown = Object.values(usage).every((value) => value === null)
  return { ...usage, unknown_because: isUnknown ? reason : null }
}

/** The whole text as one JSON value, or each line that is one. */
const jsonValuesOf = (text: string): unknown[] => {
  const whole = jsonOf(text)
  if (whole !== undefined) return [whole]
  const lines = text.split('\n').filter((line) => /^\s*[[{]/.test(line))
  return lines.map(jsonOf).filter((value) => value !== undefined)
}

const atPath = (value: unknown, path: string): number[] => {
  let found: unknown[] = [value]
  for (const key of path.split('.').slice(0, maxDepth))
    found = found.flatMap((each) => {
      if (typeof each !== 'object' || each === null) return []
      if (key === '*') return Object.values(each)
      return Object.hasOwn(each, key) ? [(each as Record<string, unknown>)[key]] : []
    })
  return found.filter((each) => typeof each === 'number' && Number.isFinite(each)) as number[]
}

/** Runs in its own context, which a timeout can stop. */
const matches = ({ pattern }: { pattern: string }, text: string): number[] => {
  const context = createContext({ pattern, text, found: [] as string[] })
  const script = new Script("for (const [, group] of text.matchAll(new RegExp(pattern, 'gm'))) found.push(group)")
  try {
    script.runInContext(context, { timeout: maxMatchMs })
  } catch {
    return []
  }
  return (context.found as unknown[])
    .map(String)
    .filter((group) => /\d/.test(group))
    .map((group) => Number(group.replaceAll(/[,_\s]/g, '')))
    .filter((each) => Number.isFinite(each))
}

export const sumOfUsages = (usages: readonly AgentUsage[]): AgentUsage => {
  const [first = unknownUsage('the agent did not run'), ...others] = usages
  const plus = (a: number | null | undefined, b: number | null | undefined) => (a == null || b == null ? null : a + b)
  return others.reduce(
    (sum, each) => ({
      n_input_tokens: plus(sum.n_input_tokens, each.n_input_tokens),
      n_cache_tokens: plus(sum.n_cache_tokens, each.n_cache_tokens),
      n_output_tokens: plus(sum.n_output_tokens, each.n_output_tokens),
      cost_usd: plus(sum.cost_usd, each.cost_usd),
      unknown_because: sum.unknown_because ?? each.unknown_because ?? null,
    }),
    first,
  )
}
