import * as z from 'zod/mini'

/** Beside the interface, by the names of Harbor's results: what an agent used. What is not known is null, never 0. */
export const AgentUsage = z.object({
  /** With those from a cache. */
  n_input_tokens: z.nullish(z.int()),
  n_cache_tokens: z.nullish(z.int()),
  n_output_tokens: z.nullish(z.int()),
  cost_usd: z.nullish(z.number()),
  /** Why none of them is known. */
  unknown_because: z.nullish(z.string()),
})
export type AgentUsage = z.infer<typeof AgentUsage>

/** The sums over the attempts that tell them. */
export const RunUsage = z.object({
  ...AgentUsage.shape,
  n_with_tokens: z.int(),
  n_with_cost: z.int(),
})
export type RunUsage = z.infer<typeof RunUsage>
