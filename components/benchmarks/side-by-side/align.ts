import { sequenceDiff } from '../compare/line-diff.ts'
import type { TrajectoryStep } from '../logs/trajectory.ts'

/** `reworded`: the same tool calls with another message. */
export type StepKind = 'same' | 'reworded' | 'changed' | 'only_a' | 'only_b'

export interface AlignedStep {
  kind: StepKind
  /** Positions from 0. */
  a: number | null
  b: number | null
}

export interface Alignment {
  rows: readonly AlignedStep[]
  /** Index of the first row where the agents act differently. */
  divergence: number | null
  isCut: boolean
}

export const maxAlignedSteps = 2_000

/**
 * Aligns two trajectories by what the agents did: steps match if they have the same source and tool calls, or the same message
 * if they call no tool. Times and ids in messages are ignored.
 */
export const alignSteps = (a: readonly TrajectoryStep[], b: readonly TrajectoryStep[]): Alignment => {
  const [ofA, ofB] = [a, b].map((steps) => steps.slice(0, maxAlignedSteps).map(actionOf)) as [string[], string[]]
  const rows: AlignedStep[] = []
  let [i, j] = [0, 0]
  let gap = { removed: 0, added: 0 }
  const closeGap = () => {
    const pairs = Math.min(gap.removed, gap.added)
    for (let at = 0; at < pairs; at++) rows.push({ kind: 'changed', a: i++, b: j++ })
    for (let at = pairs; at < gap.removed; at++) rows.push({ kind: 'only_a', a: i++, b: null })
    for (let at = pairs; at < gap.added; at++) rows.push({ kind: 'only_b', a: null, b: j++ })
    gap = { removed: 0, added: 0 }
  }
  for (const { kind } of sequenceDiff(ofA, ofB)) {
    if (kind !== 'same') {
      gap[kind]++
      continue
    }
    closeGap()
    const isSame = normalized(a[i]?.message ?? '') === normalized(b[j]?.message ?? '')
    rows.push({ kind: isSame ? 'same' : 'reworded', a: i++, b: j++ })
  }
  closeGap()
  const divergence = rows.findIndex(({ kind }) => kind !== 'same' && kind !== 'reworded')
  return {
    rows,
    divergence: divergence === -1 ? null : divergence,
    isCut: Math.max(a.length, b.length) > maxAlignedSteps,
  }
}

const actionOf = ({ source, message, calls }: TrajectoryStep): string =>
  JSON.stringify([source, calls.length > 0 ? calls.map(callOf) : normalized(message)])

type Call = TrajectoryStep['calls'][number]

const commandKeys = ['command', 'cmd', 'keystrokes', 'script', 'code']

/** A call that only runs a command is that command, whatever the tool is named. */
const callOf = ({ name, input }: Call): string => {
  const command = commandOf(input)
  return command === null ? `${name} ${normalized(sortedJson(input))}` : normalized(command)
}

const commandOf = (input: string): string | null => {
  const value = parsed(input)
  if (typeof value !== 'object' || value === null) return null
  const command = commandKeys.map((key) => (value as Record<string, unknown>)[key]).find((each) => each !== undefined)
  if (Array.isArray(command)) return command.join(' ')
  return typeof command === 'string' ? command : null
}

const sortedJson = (input: string): string => {
  const value = parsed(input)
  return value === undefined
    ? input
    : JSON.stringify(value, (_, each: unknown) => (isRecord(each) ? sorted(each) : each))
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const sorted = (record: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const varying =
  /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?|\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b0x[0-9a-f]{6,}\b/gi

const normalized = (text: string): string => text.replace(varying, '#').replace(/\s+/g, ' ').trim()

/** What a step does, in one line. */
export const stepLabel = ({ message, calls }: TrajectoryStep): string => {
  if (calls.length === 0) return message.trim().split('\n')[0] || 'empty step'
  return calls.map(({ name, input }) => commandOf(input)?.trim() ?? `${name} ${sortedJson(input)}`).join('; ')
}

/** `Same for 7 steps; step 8 differs`. */
export const divergenceText = ({ rows, divergence }: Alignment): string => {
  const same = divergence ?? rows.length
  const reworded = rows.slice(0, same).filter(({ kind }) => kind === 'reworded').length
  const count = `${same.toLocaleString('en-US')} ${same === 1 ? 'step' : 'steps'}`
  const wording = reworded === 0 ? '' : `, ${reworded} with another message`
  if (divergence === null) return `Same for all ${count}${wording}`
  return divergence === 0 ? 'Different from the first step' : `Same for ${count}${wording}; step ${same + 1} differs`
}
