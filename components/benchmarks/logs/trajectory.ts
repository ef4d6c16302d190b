import * as z from 'zod/mini'

/** An ATIF trajectory. The file is untrusted: any part but the list of steps may be missing or malformed. */

const maxTextLength = 100_000
const maxCalls = 200

const cut = (text: string): string =>
  text.length > maxTextLength
    ? `${text.slice(0, maxTextLength)}\n… ${text.length - maxTextLength} more characters`
    : text

const given = z.string().check(z.minLength(1), z.overwrite(cut))
const textOrNull = z.catch(z.nullable(given), null)
const numberOrNull = z.catch(z.nullable(z.number()), null)
const timeMs = z.catch(z.nullable(z.pipe(z.string(), z.transform(Date.parse)).check(z.refine(Number.isFinite))), null)

const json = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? ''))

/** Content is a string or a list of parts; only text is shown. */
const contentText = (value: unknown): string => {
  if (!Array.isArray(value)) return cut(value === null ? '' : json(value))
  const parts = value.map((part) => {
    const { text, type } = Part.parse(part)
    return typeof part === 'string' ? part : (text ?? `(${type}, not shown)`)
  })
  return cut(parts.join('\n'))
}
const content = z._default(z.pipe(z.unknown(), z.transform(contentText)), '')

const lenient = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.catch(z.object(shape), () => z.object(shape).parse({}))
const listOf = <Item extends z.ZodMiniType>(item: Item) => z.catch(z.array(item), [])

const Part = lenient({ text: z.catch(z.nullable(z.string()), null), type: z.catch(given, 'part') })
const Call = lenient({
  tool_call_id: textOrNull,
  function_name: z.catch(given, 'unnamed tool'),
  arguments: z.optional(z.unknown()),
})
const Result = lenient({ source_call_id: textOrNull, content })

const Step = z.pipe(
  lenient({
    source: z.catch(given, 'unknown'),
    message: content,
    reasoning_content: content,
    tool_calls: listOf(Call),
    observation: lenient({ results: listOf(Result) }),
    model_name: textOrNull,
    timestamp: timeMs,
    metrics: lenient({ prompt_tokens: numberOrNull, completion_tokens: numberOrNull, cost_usd: numberOrNull }),
  }),
  z.transform(({ tool_calls, observation, ...step }) => {
    const calls = tool_calls.slice(0, maxCalls)
    const results = observation.results.slice(0, maxCalls)
    const isOf = (call: string | null) => (result: z.output<typeof Result>) =>
      call !== null && result.source_call_id === call
    return {
      ...step,
      calls: calls.map(({ tool_call_id, function_name, arguments: input }) => ({
        name: function_name,
        input: cut(json(input)),
        results: results.filter(isOf(tool_call_id)).map(({ content }) => content),
      })),
      observations: results
        .filter((result) => !calls.some(({ tool_call_id }) => isOf(tool_call_id)(result)))
        .map(({ content }) => content),
    }
  }),
)

export type TrajectoryStep = z.output<typeof Step>

const Trajectory = z.object({
  schema_version: textOrNull,
  agent: lenient({ name: textOrNull, version: textOrNull }),
  steps: z.array(Step),
})
export type Trajectory = z.output<typeof Trajectory>

/** Returns undefined for a file without a list of steps. */
export const readTrajectory = (text: string): Trajectory | undefined => {
  try {
    return Trajectory.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
