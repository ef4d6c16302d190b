import { type Rewards, TrialError } from '../outcome.ts'

export const readRewards = async (
  folder: string,
  read: (path: string) => Promise<string | undefined>,
): Promise<Rewards> => {
  const paths = { json: `${folder}/reward.json`, text: `${folder}/reward.txt` }
  const json = await read(paths.json)
  const text = json === undefined ? await read(paths.text) : undefined
  const path = json === undefined ? paths.text : paths.json
  const content = json ?? text
  if (content === undefined)
    throw new TrialError('RewardFileNotFoundError', `No reward file found at ${paths.text} or ${paths.json}`)
  if (content === '') throw new TrialError('RewardFileEmptyError', `Reward file is empty at ${path}`)
  return json === undefined ? { reward: parseReward(content, path) } : parseRewards(content, path)
}

const parseReward = (content: string, path: string): number => {
  const value = rewardOf(content)
  if (value === undefined)
    throw new TrialError('VerifierOutputParseError', `Failed to parse rewards from text file ${path}`)
  return value
}

/** Unspecified: infinite rewards and NaN, which have no average. They are invalid. */
export const rewardOf = (value: unknown): number | undefined => {
  const number = typeof value === 'string' ? pythonFloat(value) : typeof value === 'boolean' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

const pythonFloat = (text: string): number | undefined => {
  // Unlike Python, trim() removes a byte order mark.
  const digits = text.startsWith('\uFEFF') ? text : text.trim()
  if (!/^[+-]?(\d+(_\d+)*)?(\.(\d+(_\d+)*)?)?([eE][+-]?\d+(_\d+)*)?$/.test(digits) || !/^[+-]?\.?\d/.test(digits))
    return undefined
  return Number(digits.replaceAll('_', ''))
}

const parseRewards = (content: string, path: string): Rewards => {
  let value: unknown
  try {
    value = JSON.parse(content)
  } catch {
    throw new TrialError('VerifierOutputParseError', `Failed to parse rewards from JSON file ${path}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TrialError('ValidationError', `The rewards in ${path} are not a mapping of names to numbers`)
  const rewards = Object.entries(value).map(([name, each]): [string, number] => {
    const number = rewardOf(each)
    if (number === undefined)
      throw new TrialError('ValidationError', `The reward ${JSON.stringify(name)} in ${path} is not a number`)
    return [name, number]
  })
  if (rewards.length === 0) throw new TrialError('ValidationError', `No reward in ${path}`)
  return Object.fromEntries(rewards)
}

export const reaches = (rewards: Rewards, minimum: number | Record<string, number> | null): boolean => {
  if (minimum === null) return true
  const minimums = typeof minimum === 'number' ? { reward: minimum } : minimum
  return Object.entries(minimums).every(([name, value]) => (rewards[name] ?? Number.NEGATIVE_INFINITY) >= value)
}

export const combine = (steps: readonly (Rewards | null)[], strategy: 'mean' | 'final'): Rewards | null => {
  if (strategy === 'final') return steps.at(-1) ?? null
  const withRewards = steps.filter((rewards) => rewards !== null)
  if (withRewards.length === 0) return null
  const names = [...new Set(withRewards.flatMap((rewards) => Object.keys(rewards)))]
  const mean = (name: string) =>
    withRewards.reduce((sum, rewards) => sum + (rewards[name] ?? 0), 0) / withRewards.length
  return Object.fromEntries(names.map((name) => [name, mean(name)]))
}
