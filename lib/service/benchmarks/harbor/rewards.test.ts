import { describe, expect, it } from 'vitest'
import { combine, reaches, readRewards, rewardOf } from './rewards.ts'

const read = (files: Record<string, string>) => readRewards('/v', async (path) => files[path.replace('/v/', '')])

it.each<[unknown, number | undefined]>([
  [true, 1],
  [false, 0],
  ['1.0', 1],
  [' 0.25 ', 0.25],
  ['1_000', 1000],
  ['1e-3', 0.001],
  ['-.5', -0.5],
  [-1, -1],
  ...[null, 'true', 'nan', 'Infinity', '', '1,5', '\uFEFF1', [1], { value: 1 }].map((value): [unknown, undefined] => [
    value,
    undefined,
  ]),
])('%j is the reward %s, as in Harbor', (value, reward) => {
  expect(rewardOf(value)).toBe(reward)
})

it.each([
  [{ 'reward.txt': '0.25\n' }, { reward: 0.25 }],
  [{ 'reward.txt': ' 2.5e0 ' }, { reward: 2.5 }],
  [{ 'reward.json': '{"reward": 0.5, "speed": 3}' }, { reward: 0.5, speed: 3 }],
  [{ 'reward.json': '{"a": -3, "b": true, "c": "0.5"}' }, { a: -3, b: 1, c: 0.5 }],
  [{ 'reward.json': '{"only": 1}', 'reward.txt': '0' }, { only: 1 }],
])('reads %j', async (files, rewards) => {
  expect(await read(files)).toEqual(rewards)
})

it.each([
  [{}, 'RewardFileNotFoundError', 'No reward file found at /v/reward.txt or /v/reward.json'],
  [{ 'reward.txt': '' }, 'RewardFileEmptyError', 'Reward file is empty at /v/reward.txt'],
  [{ 'reward.txt': 'abc' }, 'VerifierOutputParseError', 'Failed to parse rewards from text file /v/reward.txt'],
  [{ 'reward.json': '{"cut' }, 'VerifierOutputParseError', 'Failed to parse rewards from JSON file /v/reward.json'],
  [{ 'reward.json': '{"reward": "good"}' }, 'ValidationError', 'The reward "reward" in /v/reward.json is not a number'],
  [{ 'reward.json': '{}' }, 'ValidationError', 'No reward in /v/reward.json'],
  [{ 'reward.json': '[1]' }, 'ValidationError', 'The rewards in /v/reward.json are not a mapping of names to numbers'],
])('rejects %j', async (files, name, message) => {
  await expect(read(files)).rejects.toMatchObject({ name, message })
})

describe('rewards of steps', () => {
  it('are averaged over the steps that have some, or those of the last', () => {
    expect(combine([{ a: 1, b: 2 }, null, { a: 0 }], 'mean')).toEqual({ a: 0.5, b: 1 })
    expect(combine([{ a: 1 }, { a: 0.25 }], 'final')).toEqual({ a: 0.25 })
    expect([combine([null], 'mean'), combine([{ a: 1 }, null], 'final')]).toEqual([null, null])
  })

  it('reach a minimum of `reward`, or of each named reward', () => {
    expect([reaches({ reward: 0.5 }, 0.5), reaches({ other: 1 }, 0.5), reaches({}, null)]).toEqual([true, false, true])
    expect([reaches({ a: 1, b: 0 }, { a: 1 }), reaches({ a: 1, b: 0 }, { a: 1, b: 1 })]).toEqual([true, false])
  })
})
