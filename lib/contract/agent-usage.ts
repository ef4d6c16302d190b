import * as z from 'zod/mini'

/** Extension with the field names of Harbor's results. Unknown values are null, never 0. */
export const AgentUsage = z.object({
  n_input_tokens: z.nullish(z.int()),
  n_cache_tokens: z.nullish(z.int()),
  n_output_tokens: z.nullish(z.int()),
  cost_usd: z.nullish(z.number()),
  unknown_because: z.nullish(z.string()),
})
export type AgentUsage = z.infer<typeof AgentUsage>

export const RunUsage = z.object({
  ...AgentUsage.shape,
  n_with_tokens: z.int(),
  n_with_cost: z.int(),
})
export type RunUsage = z.infer<typeof RunUsage>
